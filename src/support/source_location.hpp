#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

/// A place in a file, 1-based; line 0 means "none".
struct SourceLocation {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    /// "file:line:column", or "file" where line is 0.
    [[nodiscard]] std::string text() const;
};

/// A text as messages show it: cut after so many bytes, at a whole character.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t longest = 400);

/// An argument as messages show it.
template <typename Value>
[[nodiscard]] decltype(auto) shown_value(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        return shortened(value);
    } else {
        return (value);
    }
}

/// An ErrorKind::usage Error "FILE:LINE:COLUMN: message". Long values are shortened.
template <typename... Args>
[[nodiscard]] Error error_at(const SourceLocation& location, fmt::format_string<Args...> format,
                             Args&&... args) {
    return error(
        ErrorKind::usage, "{}: {}", location.text(),
        fmt::vformat(fmt::string_view(format), fmt::make_format_args(shown_value(args)...)));
}

}  // namespace edgegpu
