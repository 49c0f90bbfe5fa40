#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// What strings of the API contain, where their schemas only say "string": "x-format" of the table.
enum class StringFormat : std::uint8_t {
    quantity,   ///< an amount: "500m", "2", "1Gi"
    byte,       ///< base64
    date_time,  ///< a time of RFC 3339
    duration    ///< of Go: "1m30s"
};

/// "quantity", "byte", "date-time", "duration"
[[nodiscard]] std::string_view enum_name(StringFormat format);

/// Whether `text` has the format, as the API server reads it; takes time in proportion to its
/// length.
[[nodiscard]] bool has_format(std::string_view text, StringFormat format);

/// The quantity that `text` was probably meant to be: "1G" for "1GB", "512Mi" for "512mi".
[[nodiscard]] std::optional<std::string> near_quantity(std::string_view text);

}  // namespace edgegpu
