#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "blueprint/openshift.hpp"

/// Objects of OpenShift's machine config operator (machineconfiguration.openshift.io/v1 of
/// openshift/api).
namespace edgegpu {

/// Whether the installer makes the pool: "worker" and "master".
[[nodiscard]] bool is_pool_of_installer(const std::string& pool);

/// A MachineConfigPool of worker nodes with the role `pool`: they have the machine configurations
/// of workers, and those of the pool.
[[nodiscard]] nlohmann::json machine_config_pool(const std::string& pool);

/// The MachineConfig that brings the image to the nodes of the pool. `image` has a digest, and
/// `kernel_arguments` are those of the image: the operator reads none from the image.
[[nodiscard]] nlohmann::json machine_config(const std::string& pool, const std::string& image,
                                            const std::vector<std::string>& kernel_arguments);

/// The MachineOSConfig that has the cluster build the nodes' image. It is made from the image of
/// the pool's machine configuration, which is `machine_config`'s, and called like the pool: the API
/// takes no other name.
[[nodiscard]] nlohmann::json machine_os_config(const std::string& pool,
                                               const OnClusterBuildRequest& build);

}  // namespace edgegpu
