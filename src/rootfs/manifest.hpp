#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// The manifest of an imported package: a line with the format's version, a record for each file
/// (each field an 8-byte little-endian length and its bytes), and the SHA-256 of everything before
/// it in hexadecimal. `content` is relative to `directory`.
[[nodiscard]] std::string format_manifest(const std::vector<ImportedFile>& files,
                                          const std::filesystem::path& directory);

/// The inverse of format_manifest. Throws Error for a manifest that is damaged or has another
/// version.
[[nodiscard]] std::vector<ImportedFile> parse_manifest(const std::string& text,
                                                       const std::filesystem::path& directory);

}  // namespace edgegpu
