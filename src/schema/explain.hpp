#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/compiled_schema.hpp"
#include "schema/definitions.hpp"
#include "schema/schema_problem.hpp"

namespace edgegpu {

/// Problems of one object that are told; a last one says that there are more.
constexpr std::size_t max_problems = 50;

/// What is wrong with `object`, in the words of the API: where valijson found it to fail `root`,
/// which is the name of a definition. Sorted by place; never empty if `failures` is not.
/// Values of Secrets are not shown.
[[nodiscard]] std::vector<SchemaProblem> explain_failures(
    Definitions& definitions, const std::string& root, const nlohmann::json& object,
    const std::vector<SchemaFailure>& failures);

}  // namespace edgegpu
