#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Path in the image of the blueprint's modprobe.d(5) configuration.
inline constexpr const char* modprobe_path = "/etc/modprobe.d/edgegpu.conf";

/// Writes `[modprobe]`: `blacklist`, `options` and `softdep` lines, and a dracut configuration that
/// adds them to the initramfs and omits blacklisted drivers from it; otherwise these would be
/// loaded before the root file system is mounted. Throws ErrorKind::usage for a malformed module
/// name, options of more than one line, or an image that has a different file at `modprobe_path`.
void add_modprobe(const Context& ctx, const ModprobeRequest& request, Tree& tree);

/// Kernel arguments that keep blacklisted modules from being loaded before modprobe's configuration
/// is read: "rd.driver.blacklist=A,B" (dracut.cmdline(7)) and "modprobe.blacklist=A,B"
/// (modprobe(8)), each without the modules that such an argument in `given` names already.
[[nodiscard]] std::vector<std::string> blacklist_arguments(const ModprobeRequest& request,
                                                           const std::vector<std::string>& given);

}  // namespace edgegpu
