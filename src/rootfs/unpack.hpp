#pragma once

#include <cstdint>
#include <filesystem>

#include "rootfs/import.hpp"

namespace edgegpu {

/// Modification time of every unpacked file, in seconds since 1970.
inline constexpr std::int64_t unpacked_time = 1;

/// Unpacks an RPM into `directory`, which is created: `files/<n>`, `header`, `manifest`. Its caller
/// renames it to `final_directory`, or removes it after an error. Throws Error "package NEVRA: …".
void unpack_package(const Context& ctx, const PackageFile& package,
                    const std::filesystem::path& directory,
                    const std::filesystem::path& final_directory);

}  // namespace edgegpu
