#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

namespace edgegpu {

namespace aggregate_size_detail {

template <typename Type>
struct IsOptional : std::false_type {};
template <typename Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

/// Converts to any type except std::optional, whose constructors would make the conversion
/// ambiguous.
struct AnyValue {
    template <typename Type>
    requires(!IsOptional<Type>::value) operator Type() const;
};

/// Converts to any std::optional.
struct AnyOptional {
    template <typename Value>
    operator std::optional<Value>() const;
};

template <typename Aggregate, typename... Known>
consteval std::size_t count() {
    if constexpr (requires { Aggregate{Known{}..., AnyValue{}}; }) {
        return count<Aggregate, Known..., AnyValue>();
    } else if constexpr (requires { Aggregate{Known{}..., AnyOptional{}}; }) {
        return count<Aggregate, Known..., AnyOptional>();
    } else {
        static_assert(
            !requires {
                Aggregate{Known{}..., {}};
            },
            "the aggregate has a field that cannot be counted");
        return sizeof...(Known);
    }
}

}  // namespace aggregate_size_detail

/// The number of fields of a struct without constructors and bases: the number of values that it
/// can be initialised with.
template <typename Aggregate>
requires std::is_aggregate_v<Aggregate>
inline constexpr std::size_t aggregate_size = aggregate_size_detail::count<Aggregate>();

}  // namespace edgegpu
