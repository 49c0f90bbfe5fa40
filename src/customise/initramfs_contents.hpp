#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu {

/// Absolute paths ("/usr/bin/sh") of everything in an initramfs image, sorted: all its cpio
/// archives (format newc, Documentation/driver-api/early-userspace/buffer-format.rst of the
/// kernel), be they plain like that of early microcode, or compressed. Throws Error naming the
/// file if it is cut short or no such image.
[[nodiscard]] std::vector<std::string> list_initramfs(const std::filesystem::path& image);

}  // namespace edgegpu
