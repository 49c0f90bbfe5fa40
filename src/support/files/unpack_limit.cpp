#include "support/files/unpack_limit.hpp"

#include <algorithm>
#include <limits>

#include <sys/statvfs.h>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

UnpackLimit most_unpacked(std::uint64_t packed, std::uint64_t spare, std::uint64_t ratio) {
    const bool any = packed > (std::numeric_limits<std::uint64_t>::max() - spare) / ratio;
    return {any ? std::numeric_limits<std::uint64_t>::max() : packed * ratio + spare,
            fmt::format(", which is too much for {} of compressed data", human_size(packed))};
}

void require_space(const std::filesystem::path& directory, std::uint64_t bytes,
                   std::string_view what, ErrorKind kind) {
    constexpr std::uint64_t most_reserved = 256ULL << 20U;
    struct statvfs status {};
    if (::statvfs(directory.c_str(), &status) != 0) {
        return;  // what cannot be written there will say why
    }
    const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
    const std::uint64_t reserved = std::min(bytes, most_reserved);
    if (free < reserved || free - reserved < bytes) {
        throw error(kind, "{} needs {} on the file system of {}, which has {} free", what,
                    human_size(bytes), directory.string(), human_size(free))
            .hinted(
                "free some space there (`edgegpu cache prune --max-size 5G`), or use another "
                "directory "
                "with --cache-dir");
    }
}

}  // namespace edgegpu
