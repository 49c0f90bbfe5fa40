#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::gpu_health {

/// What a CDI specification (Container Device Interface, versions 0.3 to 1.1) names.
struct CdiText {
    /// "nvidia.com/gpu"
    std::string kind;
    std::vector<std::string> devices;
    /// Host paths of mounts, device nodes and hooks, sorted, each once.
    std::vector<std::string> paths;
};

/// Reads a specification in YAML or JSON (which is YAML). Throws std::runtime_error for what is
/// neither, or has no kind or no devices.
[[nodiscard]] CdiText read_cdi(std::string_view text);

}  // namespace edgegpu::gpu_health
