#pragma once

#include <string>

#include "schema/kubernetes_schemas.hpp"

namespace edgegpu {

/// The namespace of an object in the cluster: without one it is in "default", and objects of a
/// cluster are in none. Of kinds that Kubernetes does not have, `name_space`.
[[nodiscard]] std::string namespace_in_cluster(const KubernetesSchemas& schemas,
                                               const std::string& api_version,
                                               const std::string& kind,
                                               const std::string& name_space);

}  // namespace edgegpu
