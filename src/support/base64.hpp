#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Standard base64 (RFC 4648), in one line, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);

/// The bytes of such text; what is no base64 in it is skipped.
[[nodiscard]] std::string from_base64(const std::string& text);

/// The bytes of such text without its padding; nothing if another character is in it. Bits at the
/// end that are no whole byte are left out.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace edgegpu
