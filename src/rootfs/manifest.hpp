#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// The manifest of an imported package: a magic line with the format's version, then a
/// record for each file, every field a 8-byte little-endian length and its bytes; ends with a
/// digest of all before it. `content` is kept relative to `directory`.
[[nodiscard]] std::string format_manifest(const std::vector<ImportedFile>& files,
                                          const std::filesystem::path& directory);

/// Reads it back. Throws Error where it is damaged or of another version; the caller imports
/// again.
[[nodiscard]] std::vector<ImportedFile> parse_manifest(const std::string& text,
                                                       const std::filesystem::path& directory);

}  // namespace edgegpu
