#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Where the blueprint's modprobe.d(5) configuration lies in the image.
inline constexpr const char* modprobe_path = "/etc/modprobe.d/edgegpu.conf";

/// Writes `[modprobe]`: `blacklist`, `options` and `softdep` lines, and a dracut configuration that
/// takes them into the initramfs and leaves blacklisted drivers out of it; without that, a
/// blacklisted driver would still be loaded before the root is there. Throws ErrorKind::usage for a
/// malformed module name, options of more than one line, or an image that has another file there.
void add_modprobe(const Context& ctx, const ModprobeRequest& request, Tree& tree);

/// What the kernel's command line needs so that no blacklisted module is loaded before modprobe's
/// configuration is read: "rd.driver.blacklist=A,B" (dracut.cmdline(7)) and
/// "modprobe.blacklist=A,B" (modprobe(8)), each without the modules that such an argument of
/// `given` names already.
[[nodiscard]] std::vector<std::string> blacklist_arguments(const ModprobeRequest& request,
                                                           const std::vector<std::string>& given);

/// A module's name as the kernel compares it: "nvidia-drm" is "nvidia_drm".
[[nodiscard]] std::string kernel_module_name(std::string_view name);

/// The module in a file "…/nvidia-drm.ko.xz", "nvidia_drm"; empty for other files.
[[nodiscard]] std::string module_of_file(std::string_view path);

}  // namespace edgegpu
