#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "blueprint/fields/aggregate_size.hpp"

namespace edgegpu {

/// What a field of the blueprint has to do with the commit.
enum class Counts {
    value,     ///< it decides the commit, or whether there is one: its value is an input
    set,       ///< the same of a list whose order decides nothing
    content,   ///< the path is the builder's own matter; what lies there is an input
    module,    ///< policy modules: names, content, and the files that belong to them are inputs
    packages,  ///< it decides which packages are chosen; these are inputs in its place
    never      ///< it decides how the build goes, and nothing of its result
};

/// What is shown of a field to whoever asks how a blueprint was understood.
enum class Shown {
    plain,   ///< its value
    url,     ///< its value without credentials
    secret,  ///< whether there is one
    text,    ///< its size: a text of the user's in which anything may stand
    octal,   ///< its value, permission bits
    never    ///< nothing
};

/// One field of a struct of the blueprint.
template <Counts counted, Shown shown_as, typename Owner, typename Value>
struct Field {
    static constexpr Counts counts = counted;
    static constexpr Shown shown = shown_as;
    /// fields of the struct that this describes
    static constexpr std::size_t width = 1;

    /// as the blueprint has it, where it has it
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

/// A file or directory that the blueprint names: the user's path, and what the build took of it
/// (pipeline_snapshot.hpp). The latter is the input.
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

template <Counts counts, Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto field(std::string_view name, Value Owner::*member) {
    return Field<counts, shown, Owner, Value>{name, member};
}

/// A value that decides the commit.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto input(std::string_view name, Value Owner::*member) {
    return field<Counts::value, shown>(name, member);
}

/// A list of which only the elements decide the commit.
template <typename Owner, typename Value>
constexpr auto unordered_input(std::string_view name, Value Owner::*member) {
    return field<Counts::set>(name, member);
}

/// What decides which packages are chosen, and nothing else.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto chooses_packages(std::string_view name, Value Owner::*member) {
    return field<Counts::packages, shown>(name, member);
}

/// What decides nothing of the commit.
template <Shown shown = Shown::plain, typename Owner, typename Value>
constexpr auto no_input(std::string_view name, Value Owner::*member) {
    return field<Counts::never, shown>(name, member);
}

/// The place of something in the blueprint, for messages.
template <typename Owner, typename Location>
constexpr auto place(Location Owner::*member) {
    return field<Counts::never, Shown::never>("location", member);
}

/// A file or directory whose content decides the commit.
template <typename Owner, typename Path, typename Stored>
constexpr auto copied(std::string_view name, Path Owner::*path, Stored Owner::*stored) {
    return CopiedField<Owner, Path, Stored>{name, path, stored};
}

/// The description of a struct: all of its fields, each once. Anything else does not compile.
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

/// Calls `visit(row, owner)` with each row of the struct's description.
template <typename Owner, typename Visit>
requires Described<std::remove_const_t<Owner>>
constexpr void each_field(Owner& owner, Visit&& visit) {
    std::apply([&](const auto&... rows) { (visit(rows, owner), ...); },
               fields_of(static_cast<const Owner*>(nullptr)));
}

}  // namespace edgegpu
