#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// The absolute paths ("/usr/bin/sh") in an initramfs, sorted: of all its cpio archives (format
/// newc, Documentation/driver-api/early-userspace/buffer-format.rst of the kernel), uncompressed
/// ones, like that of early microcode, and a compressed one. Throws Error with `name` if it is
/// truncated or not an initramfs, or unpacks to more than 4 GiB or a million paths.
[[nodiscard]] std::vector<std::string> list_initramfs(std::string_view image,
                                                      const std::string& name);

}  // namespace edgegpu
