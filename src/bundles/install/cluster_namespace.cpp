#include "bundles/install/cluster_namespace.hpp"

namespace edgegpu {

std::string namespace_in_cluster(const KubernetesSchemas& schemas, const std::string& api_version,
                                 const std::string& kind, const std::string& name_space) {
    const std::optional<KindScope> scope = schemas.scope_of(api_version, kind);
    if (scope == KindScope::cluster) {
        return {};
    }
    return scope == KindScope::namespaced && name_space.empty() ? "default" : name_space;
}

}  // namespace edgegpu
