#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "blueprint/fields/aggregate_size.hpp"

namespace edgegpu {

/// Effect of a blueprint's field on the commit.
enum class Counts {
    value,     ///< determines the commit, or whether there is one: its value is an input
    set,       ///< the same for a list whose order has no effect
    content,   ///< a path: the content there is an input, the path is not
    module,    ///< policy modules: names and content of their files are inputs
    packages,  ///< determines which packages are chosen; those are inputs instead
    never      ///< affects how the build runs, but not its result
};

/// What `check --json` shows of a field.
enum class Shown {
    plain,   ///< its value
    url,     ///< its value without credentials
    secret,  ///< whether there is one
    text,    ///< its size: a text that may contain anything
    octal,   ///< its value in octal: permission bits
    never    ///< nothing
};

/// One field of a struct of the blueprint.
template <Counts counted, Shown shown_as, typename Owner, typename Value>
struct Field {
    static constexpr Counts counts = counted;
    static constexpr Shown shown = shown_as;
    /// Number of struct members that this describes.
    static constexpr std::size_t width = 1;

    /// The blueprint's key where there is one.
    std::string_view name;
    Value Owner::*member;

    template <typename Any>
    [[nodiscard]] constexpr bool is(Any Owner::*other) const {
        if constexpr (std::is_same_v<Any, Value>) {
            return member == other;
        } else {
            return false;
        }
    }
};

/// A file or directory that the blueprint names: the user's path, and the copy made by
/// `take_snapshot`, which is the input.
template <typename Owner, typename Path, typename Stored>
struct CopiedField {
    static constexpr Counts counts = Counts::content;
    static constexpr Shown shown = Shown::plain;
    static constexpr std::size_t width = 2;

    std::string_view name;
    Path Owner::*member;
    Stored Owner::*stored;

    template <typename Any>
    [[nodiscard]] constexpr bool is(Any Owner::*other) const {
        if constexpr (std::is_same_v<Any, Path>) {
            return member == other;
        } else if constexpr (std::is_same_v<Any, Stored>) {
            return stored == other;
        } else {
            return false;
        }
    }
};

/// A table whose fields are visited as if they were its owner's: under their own names, without one
/// for the table.
template <typename Owner, typename Table>
struct TableField {
    static constexpr Counts counts = Counts::value;
    static constexpr Shown shown = Shown::plain;
    static constexpr std::size_t width = 1;

    Table Owner::*member;

    template <typename Any>
    [[nodiscard]] constexpr bool is(Any Owner::*other) const {
        if constexpr (std::is_same_v<Any, Table>) {
            return member == other;
        } else {
            return false;
        }
    }
};

template <Counts counts, Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto field(std::string_view name, Value Owner::*member) {
    return Field<counts, shown, Owner, Value>{name, member};
}

/// A value that determines the commit.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto input(std::string_view name, Value Owner::*member) {
    return field<Counts::value, shown>(name, member);
}

/// A list whose elements, but not their order, determine the commit.
template <typename Owner, typename Value>
constexpr auto unordered_input(std::string_view name, Value Owner::*member) {
    return field<Counts::set>(name, member);
}

/// A value that only determines which packages are chosen.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto chooses_packages(std::string_view name, Value Owner::*member) {
    return field<Counts::packages, shown>(name, member);
}

/// A value without effect on the commit.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto no_input(std::string_view name, Value Owner::*member) {
    return field<Counts::never, shown>(name, member);
}

/// A location in the blueprint, for messages.
template <typename Owner, typename Location>
constexpr auto place(Location Owner::*member) {
    return field<Counts::never, Shown::never>("location", member);
}

/// A table that has a description of its own, and no name in this one.
template <typename Owner, typename Table>
constexpr auto fields_inside(Table Owner::*member) {
    return TableField<Owner, Table>{member};
}

/// A file or directory whose content determines the commit.
template <typename Owner, typename Path, typename Stored>
constexpr auto copied(std::string_view name, Path Owner::*path, Stored Owner::*stored) {
    return CopiedField<Owner, Path, Stored>{name, path, stored};
}

/// The description of a struct. Does not compile unless each of its fields is described exactly
/// once.
template <typename Owner, typename... Rows>
consteval auto all_fields_of(Rows... rows) {
    static_assert((Rows::width + ... + 0) == aggregate_size<Owner>,
                  "a field of the struct is not described, or one is described twice");
    const auto once = [&](auto row) {
        int times = (static_cast<int>(rows.is(row.member)) + ...);
        if constexpr (requires { row.stored; }) {
            times *= (static_cast<int>(rows.is(row.stored)) + ...);
        }
        if (times != 1) {
            throw "a field is described twice";
        }
        return true;
    };
    static_cast<void>((once(rows) && ...));
    return std::tuple{rows...};
}

/// A struct with a description: a function `fields_of(const Struct*)`.
template <typename Struct>
concept Described = requires {
    fields_of(static_cast<const Struct*>(nullptr));
};

/// The description of a struct as a constant.
// clang 14 crashes on a call of `fields_of` in each_field.
template <Described Struct>
inline constexpr auto description_of = fields_of(static_cast<const Struct*>(nullptr));

/// Calls `visit(row, owner)` with each row of the struct's description; `owner` is the struct, or a
/// table of it whose fields are `fields_inside`.
template <typename Owner, typename Visit>
requires Described<std::remove_const_t<Owner>>
constexpr void each_field(Owner& owner, Visit&& visit) {
    const auto visit_row = [&](const auto& row) {
        if constexpr (requires { row.name; }) {
            visit(row, owner);
        } else {
            each_field(owner.*row.member, visit);
        }
    };
    std::apply([&](const auto&... rows) { (visit_row(rows), ...); },
               description_of<std::remove_const_t<Owner>>);
}

}  // namespace edgegpu
