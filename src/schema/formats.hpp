#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// What strings of the API contain, where their schemas only say "string": "x-format" of the table.
enum class StringFormat : std::uint8_t {
    quantity,       ///< an amount: "500m", "2", "1Gi"
    byte,           ///< base64
    date_time,      ///< a time of RFC 3339
    duration,       ///< of Go: "1m30s"
    dns_label,      ///< a name without dots (RFC 1123): "app", at most 63 bytes
    dns_subdomain,  ///< such names with dots between them: "app.v1", at most 253 bytes
    label_value     ///< what a label is set to: "v1.0_A", at most 63 bytes; may be empty
};

/// "quantity", "byte", "date-time", "duration", "dns-label", "dns-subdomain", "label-value"
[[nodiscard]] std::string_view enum_name(StringFormat format);

/// Whether `text` has the format, as the API server reads it; takes time in proportion to its
/// length.
[[nodiscard]] bool has_format(std::string_view text, StringFormat format);

/// The quantity that `text` was probably meant to be: "1G" for "1GB", "512Mi" for "512mi".
[[nodiscard]] std::optional<std::string> near_quantity(std::string_view text);

}  // namespace edgegpu
