#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edgegpu {

/// Bytes of "20G", "1.5T", "500 MiB", "1048576": K, M, G and T are powers of 1024, also as KiB…,
/// and of 1000 as KB…. Nothing for anything else, or for more than 2^63.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);
inline constexpr std::string_view size_forms = "a number with K, M, G or T, as in 500M or 20G";

/// The time of "30d", "12h", "45m", "90s", "2w": days are of 24 hours. Nothing for anything else,
/// for a number without unit, or for more than a thousand years.
[[nodiscard]] std::optional<std::chrono::seconds> parse_duration(std::string_view text);
inline constexpr std::string_view duration_forms =
    "a number with s, m, h, d or w, as in 12h or 30d";

}  // namespace edgegpu
