#pragma once

#include <cstdint>
#include <filesystem>

#include "rootfs/import.hpp"

namespace edgegpu {

/// Modification time of every unpacked file, in seconds since 1970.
inline constexpr std::int64_t unpacked_time = 1;

/// Unpacks an RPM into `directory` (made): `files/<n>`, `header`, `manifest`. The manifest names
/// content as if the directory lay at `final_directory`. The caller removes a half-made directory.
/// Throws Error "package NEVRA: …".
void unpack_package(const Context& ctx, const PackageFile& package,
                    const std::filesystem::path& directory,
                    const std::filesystem::path& final_directory);

}  // namespace edgegpu
