#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace edgegpu {

/// `--compression`: the trade-off between time and size. Checksums of objects do not depend on it.
enum class Compression { fast, usual, best };

/// The value for "fast", "default" (usual) or "best"; nothing for other names.
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view name);

/// The deflate level of new objects: 1 for fast, 12 (libdeflate's best) for best, else `[archive]
/// zlib-level` (1 to 9) in the repository's configuration, or 6 without it or without a repository.
/// Throws Error with the path of the configuration if its level is not such a number.
[[nodiscard]] int deflate_level(const std::filesystem::path& repository, Compression wanted);

}  // namespace edgegpu
