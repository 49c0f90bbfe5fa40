#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace edgegpu {

/// Why a package is in the image, or in a root that something is compiled in.
struct Reason {
    /// Kinds that a lockfile never has come last.
    enum class Kind : std::uint8_t {
        unknown,          ///< `name`: the words of a lockfile of format 1
        requested,        ///< a line of the blueprint's packages
        group,            ///< `name`: a group of comps.xml
        profile,          ///< a profile of a module: `name`, `stream`, `profile`
        package_set,      ///< `name`: the blueprint's package set
        kernel,           ///< the image's kernel, or its metapackage
        driver,           ///< `name`: the NVIDIA driver as [nvidia] has it, or its version
        toolkit,          ///< `name`: the container toolkit as [nvidia] has it
        required_by,      ///< `name`: a package
        recommended_by,   ///< `name`: a package
        dependency,       ///< the solver's choice for a rich dependency
        weak_dependency,  ///< the solver's choice for Recommends or Supplements
        module_source,    ///< has the sources of kernel modules (DKMS)
        module_compiler,  ///< compiles kernel modules
        policy_compiler,  ///< compiles policy modules
        compiled,         ///< made by this build
        asked_about       ///< `edgegpu why` asks what keeps it out
    };

    Kind kind = Kind::unknown;
    std::string name{};
    std::string stream{};
    std::string profile{};

    /// For the user: "required by bash", "profile nvidia-driver:535/ks".
    [[nodiscard]] std::string text() const;
    /// Only Recommends or Supplements want it.
    [[nodiscard]] bool is_weak() const {
        return kind == Kind::recommended_by || kind == Kind::weak_dependency;
    }
    auto operator<=>(const Reason&) const = default;
};

/// A field of a reason, by the name that the lockfile has for it.
struct ReasonField {
    const char* key;
    std::string Reason::*value;
};

/// What the lockfile calls a kind ("required-by"); empty for those that it never has.
[[nodiscard]] std::string_view enum_name(Reason::Kind kind);

/// The fields that say more about reasons of this kind.
[[nodiscard]] std::span<const ReasonField> reason_fields(Reason::Kind kind);

/// The reason of a lockfile of format 1, which has words only: a kind without fields by its words
/// ("weak dependency"); any other is `unknown`, with the words as they are.
[[nodiscard]] Reason reason_in_words(const std::string& words);

}  // namespace edgegpu
