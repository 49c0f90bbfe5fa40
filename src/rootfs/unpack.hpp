#pragma once

#include <cstdint>
#include <filesystem>

#include <sys/stat.h>

#include "rootfs/import.hpp"

namespace edgegpu {

/// Modification time of every unpacked file, in seconds since 1970.
inline constexpr std::int64_t unpacked_time = 1;

/// Whether the status is one of a file as it was unpacked: any write changes the time.
[[nodiscard]] inline bool is_as_unpacked(const struct stat& status) {
    return status.st_mtim.tv_sec == unpacked_time && status.st_mtim.tv_nsec == 0;
}

/// Unpacks an RPM into `directory`, which is created: `files/<n>`, `header`, `manifest`. Its caller
/// renames it to `final_directory`, or removes it after an error. Throws Error "package NEVRA: …".
void unpack_package(const Context& ctx, const PackageFile& package,
                    const std::filesystem::path& directory,
                    const std::filesystem::path& final_directory);

}  // namespace edgegpu
