#include "disk/ext4/disk_write.hpp"

#include <cerrno>

#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"

namespace edgegpu {

void write_to_disk(int file, std::string_view bytes, std::uint64_t offset,
                   const std::filesystem::path& disk) {
    if (!write_at(file, bytes, offset)) {
        throw write_error(disk.parent_path().string(), disk.string(), errno);
    }
}

}  // namespace edgegpu
