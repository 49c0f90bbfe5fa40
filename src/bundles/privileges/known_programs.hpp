#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bundles/privileges/rbac.hpp"

namespace edgegpu {

/// What a known program asks of the API server as it is started by a container.
struct KnownNeeds {
    /// "nfd-worker"
    std::string program;
    /// None: the program is not known, or it asks for nothing.
    std::vector<ApiRequest> requests;
};

/// The needs of a container, by its image and command: NVIDIA's device plugin, GPU feature
/// discovery, DCGM exporter and operator, and node-feature-discovery. Only what the program cannot
/// do without is listed, and nothing for programs that are told to use another account or none
/// (a kubeconfig). `name_space` is the pod's.
[[nodiscard]] KnownNeeds needs_of(const nlohmann::json& container, const std::string& name_space);

}  // namespace edgegpu
