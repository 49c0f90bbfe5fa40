#pragma once

#include <string>

#include "schema/schema_problem.hpp"
#include "schema/schema_table.hpp"

namespace edgegpu {

/// Whether an API group ("apps", "" for the core) belongs to Kubernetes itself, in any version of
/// the table, or can belong to nothing else: groups of custom resources have a dot in their names.
[[nodiscard]] bool is_kubernetes_group(const SchemaTable& table, std::string_view group);

/// "apps" of "apps/v1", "" of "v1".
[[nodiscard]] std::string_view group_of(std::string_view api_version);

/// Why a version of Kubernetes does not have a kind of one of its groups, and what to write
/// instead: the version that removed it, another apiVersion, a near name.
[[nodiscard]] SchemaProblem explain_unknown_kind(const SchemaTable& table,
                                                 KubernetesVersion version,
                                                 const std::string& api_version,
                                                 const std::string& kind);

}  // namespace edgegpu
