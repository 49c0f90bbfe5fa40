#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// A module's name as the kernel spells it: "nvidia-drm" → "nvidia_drm".
[[nodiscard]] std::string kernel_module_name(std::string_view name);

/// The name of the module in a file: "…/nvidia-drm.ko.xz" → "nvidia_drm"; empty for other files.
[[nodiscard]] std::string module_of_file(std::string_view path);

}  // namespace edgegpu
