#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Absolute paths ("/usr/bin/sh") of everything in an initramfs image, sorted: all its cpio
/// archives (format newc, Documentation/driver-api/early-userspace/buffer-format.rst of the
/// kernel), be they plain like that of early microcode, or compressed. Throws Error naming it by
/// `name` if it is cut short or no such image, or unpacks to more than 4 GiB or a million paths.
[[nodiscard]] std::vector<std::string> list_initramfs(std::string_view image,
                                                      const std::string& name);

}  // namespace edgegpu
