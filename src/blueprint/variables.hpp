#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// The values of dnf's variables, and where relative paths begin.
struct ParseScope {
    /// Absolute directory of the blueprint.
    std::filesystem::path directory;
    std::string releasever;
    /// $arch and $basearch are the same for the architectures edgegpu knows.
    std::string basearch;
};

/// A distribution as image builder names it, taken apart: "rhel-9.4" and the older "rhel-94"
/// give {rhel, 9}.
struct DistroName {
    std::string name;
    std::string major;
};

/// Throws at `location` unless `distro` is NAME-VERSION.
[[nodiscard]] DistroName split_distro(const SourceLocation& location, std::string_view distro);

/// Replaces $releasever, $releasever_major, $basearch, $arch and their ${…} forms
/// (dnf.conf(5), VARIABLES). Throws at `location` for any other variable and for one without a
/// value. A '$' that begins no name stays.
[[nodiscard]] std::string expand_variables(std::string_view text, const ParseScope& scope,
                                           const SourceLocation& location);

/// `text` as an absolute, normalised path; relative ones begin at `base`.
[[nodiscard]] std::filesystem::path resolve_path(const std::filesystem::path& base,
                                                 std::string_view text);

/// A URL from a URL (http, https, file) or from a path beginning "/", "./" or "../",
/// which becomes file:///…. Throws at `location` for anything else.
[[nodiscard]] std::string resolve_url(const std::filesystem::path& base, std::string_view text,
                                      const SourceLocation& location);

/// Finds what ships with the tool or lies beside the blueprint. A bare NAME is looked for as
/// BLUEPRINT_DIR/../KIND/NAME+SUFFIX, then DATADIR/KIND/NAME+SUFFIX; the first that exists, or
/// the first of both where none does. Anything with a slash, or a bare name with an extension if
/// `suffix` is not empty, is a path relative to the blueprint. KIND is "overlays", "manifests" or
/// "selinux".
[[nodiscard]] std::filesystem::path find_shipped(const ParseScope& scope, std::string_view kind,
                                                 std::string_view name, std::string_view suffix);

}  // namespace edgegpu
