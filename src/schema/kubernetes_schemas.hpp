#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/kubernetes_version.hpp"
#include "schema/schema_problem.hpp"
#include "schema/schema_table.hpp"

namespace edgegpu {

/// What is known of an object's kind.
enum class KindOrigin : std::uint8_t {
    kubernetes,      ///< in an API group of Kubernetes itself
    custom_resource  ///< in another one: a CustomResourceDefinition or an API server brings it
};

/// The result of a check.
struct SchemaCheck {
    /// Nothing has been checked of custom resources but that they have an apiVersion and a kind.
    KindOrigin origin = KindOrigin::kubernetes;
    /// Sorted by place, at most 51; no problem: the API server takes the object as far as its
    /// schema says.
    std::vector<SchemaProblem> problems;
};

/// The schemas of one version of Kubernetes. Those of a kind are parsed when its first object is
/// checked, and kept.
class KubernetesSchemas {
public:
    /// Throws ErrorKind::usage for a version that is not among shipped_versions().
    explicit KubernetesSchemas(KubernetesVersion version);
    KubernetesSchemas(KubernetesSchemas&&) noexcept;
    KubernetesSchemas& operator=(KubernetesSchemas&&) noexcept;
    KubernetesSchemas(const KubernetesSchemas&) = delete;
    KubernetesSchemas& operator=(const KubernetesSchemas&) = delete;
    ~KubernetesSchemas();

    /// The versions of which edgegpu has schemas.
    [[nodiscard]] static KubernetesRange shipped_versions();

    /// Whether objects of a kind belong to namespaces; nothing for a kind that this version of
    /// Kubernetes does not have, such as a custom resource.
    [[nodiscard]] std::optional<KindScope> scope_of(const std::string& api_version,
                                                    const std::string& kind) const;

    /// Checks an object as the API server does with strict field validation, which is kubectl's
    /// default: unknown fields are problems. Any value of JSON may be passed, of any size and
    /// depth. Members that are null count as absent, if the schema knows them.
    [[nodiscard]] SchemaCheck check(const nlohmann::json& object);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace edgegpu
