#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace edgegpu {

/// Why a package is in the image or in a build root.
struct Reason {
    /// Kinds that are never written to a lockfile come last.
    enum class Kind : std::uint8_t {
        unknown,          ///< `name`: the text in a lockfile of format 1
        requested,        ///< a line of the blueprint's packages
        group,            ///< `name`: a group of comps.xml
        profile,          ///< a profile of a module: `name`, `stream`, `profile`
        package_set,      ///< `name`: the blueprint's package set
        kernel,           ///< the image's kernel, or its metapackage
        driver,           ///< `name`: `driver` of [nvidia], or its version
        toolkit,          ///< `name`: `toolkit` of [nvidia]
        required_by,      ///< `name`: a package
        recommended_by,   ///< `name`: a package
        dependency,       ///< the solver's choice for a rich dependency
        weak_dependency,  ///< the solver's choice for Recommends or Supplements
        module_source,    ///< has the sources of kernel modules (DKMS)
        module_compiler,  ///< compiles kernel modules
        policy_compiler,  ///< compiles policy modules
        compiled,         ///< compiled by this build
        of_parent,        ///< a package of `[parent]`, which stays
        asked_about       ///< `edgegpu why` examines why it is not installed
    };

    Kind kind = Kind::unknown;
    std::string name{};
    std::string stream{};
    std::string profile{};

    /// For messages: "required by bash", "profile nvidia-driver:535/ks".
    [[nodiscard]] std::string text() const;
    /// Whether it is only a weak dependency.
    [[nodiscard]] bool is_weak() const {
        return kind == Kind::recommended_by || kind == Kind::weak_dependency;
    }
    // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
    auto operator<=>(const Reason&) const = default;
};

/// A field of a reason and its key in the lockfile.
struct ReasonField {
    const char* key;
    std::string Reason::*value;
};

/// `kind` in the lockfile ("required-by"); empty for kinds that are never written.
[[nodiscard]] std::string_view enum_name(Reason::Kind kind);

/// The fields that reasons of this kind use.
[[nodiscard]] std::span<const ReasonField> reason_fields(Reason::Kind kind);

/// The reason for a text in a lockfile of format 1: a kind without fields if the text matches
/// ("weak dependency"), else `unknown` with the text as `name`.
[[nodiscard]] Reason reason_in_words(const std::string& words);

}  // namespace edgegpu
