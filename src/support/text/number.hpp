#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace edgegpu {

/// Removes the number that `text` begins with, without space or '+' before it; nothing if there is
/// none, or one that the type does not hold.
template <typename Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& text, int base = 10) {
    Number number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (code != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// The number that all of `text` is; nothing for any other text.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
    const std::optional<Number> number = take_number<Number>(text, base);
    return text.empty() ? number : std::nullopt;
}

/// The number that `text` begins with; 0 if there is none.
template <typename Number>
[[nodiscard]] Number leading_number(std::string_view text) {
    return take_number<Number>(text).value_or(0);
}

}  // namespace edgegpu
