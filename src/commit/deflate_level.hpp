#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace edgegpu {

/// `--compression`: seconds against bytes. An object's checksum does not depend on it.
enum class Compression { fast, usual, best };

/// "fast", "default" or "best"; nothing for another word.
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view name);

/// The level for deflate of new objects: 1 for fast, 12 (libdeflate's best) for best, and else the
/// repository's own `[archive] zlib-level` (1 to 9), or 6 where it has none or is not made yet.
/// Throws Error naming the repository's `config` where that level is no such number.
[[nodiscard]] int deflate_level(const std::filesystem::path& repository, Compression wanted);

}  // namespace edgegpu
