#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace edgegpu {

/// An enum whose values have names: parsing, messages, digests and JSON take them from the one
/// function `enum_name(Enum)` beside it, mostly nth_name. The values count from 0; any other value
/// has an empty name.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
    { enum_name(value) } -> std::same_as<std::string_view>;
};

/// Whether an enum has an enumerator of this value: compilers write "(edgegpu::Enum)3" for others.
template <auto value>
[[nodiscard]] consteval bool is_enumerator() {
    return std::string_view(__PRETTY_FUNCTION__).find("value = (") == std::string_view::npos;
}

/// The name of a value that `names` has in the order of the values, which count from 0; empty for
/// any other value. It does not compile unless each enumerator has a name.
template <typename Enum, std::size_t count>
[[nodiscard]] constexpr std::string_view nth_name(Enum value,
                                                  const std::string_view (&names)[count]) {
    static_assert(is_enumerator<static_cast<Enum>(count - 1)>(), "a name of no enumerator");
    static_assert(!is_enumerator<static_cast<Enum>(count)>(), "an enumerator without name");
    const auto index = static_cast<std::size_t>(value);
    return index < count ? names[index] : std::string_view();
}

/// Calls `visit` with each value, in their order.
template <NamedEnum Enum, typename Visit>
constexpr void each_value(Visit visit) {
    for (int i = 0; !enum_name(static_cast<Enum>(i)).empty(); ++i) {
        visit(static_cast<Enum>(i));
    }
}

/// The value of that name, in exactly that case.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> value_named(std::string_view name) {
    std::optional<Enum> found;
    each_value<Enum>([&](Enum value) {
        if (enum_name(value) == name) {
            found = value;
        }
    });
    return found;
}

/// All names as messages list them: `"open", "proprietary"`.
template <NamedEnum Enum>
[[nodiscard]] std::string expected_names() {
    std::string list;
    each_value<Enum>([&](Enum value) {
        list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", enum_name(value));
    });
    return list;
}

}  // namespace edgegpu

/// Values are formatted as their names.
template <typename Enum>
requires edgegpu::NamedEnum<Enum>
struct fmt::formatter<Enum, char> : fmt::formatter<std::string_view> {
    auto format(Enum value, fmt::format_context& ctx) const {
        return fmt::formatter<std::string_view>::format(enum_name(value), ctx);
    }
};
