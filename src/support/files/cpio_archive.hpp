#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace edgegpu {

/// An entry of a cpio archive, of root.
struct CpioEntry {
    /// as the archive has it: no slash is added or taken away
    std::string path;
    /// type and permissions: S_IFREG | 0644
    mode_t mode = 0;
    /// must exist until the archive is made
    std::string_view content;
};

/// A filter behind a cpio archive.
enum class CpioFilter { none, gzip };

/// The entries as a cpio archive of format newc, in their order; each has an inode of its own and
/// the modification time `time` (Unix time). The same entries make the same archive, compressed or
/// not. Throws Error, which says of what it is by `what`: "an initramfs".
[[nodiscard]] std::string cpio_archive(std::string_view what, const std::vector<CpioEntry>& entries,
                                       std::int64_t time, CpioFilter filter = CpioFilter::none);

}  // namespace edgegpu
