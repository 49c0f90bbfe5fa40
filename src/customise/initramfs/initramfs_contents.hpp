#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// What is in an initramfs.
struct InitramfsContents {
    /// absolute ("/usr/bin/sh"), sorted
    std::vector<std::string> paths;
    /// names of dracut's modules that it was made of, as dracut lists them in it
    /// (/lib/dracut/modules.txt), sorted; none if there is no list
    std::vector<std::string> modules;
};

/// Reads all cpio archives of an initramfs (format newc,
/// Documentation/driver-api/early-userspace/buffer-format.rst of the kernel), uncompressed ones,
/// like that of early microcode, and a compressed one. Throws Error with `name` if it is truncated
/// or not an initramfs, or unpacks to more than 4 GiB or a million paths.
[[nodiscard]] InitramfsContents read_initramfs(std::string_view image, const std::string& name);

}  // namespace edgegpu
