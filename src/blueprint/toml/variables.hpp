#pragma once

#include <filesystem>
#include <functional>
#include <map>
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
    /// Other variables: those of the machine whose own repositories are read, `stream` of CentOS.
    std::map<std::string, std::string, std::less<>> variables = {};
    /// A variable that nobody knows stays as it stands, as dnf has it in `.repo` files.
    bool keep_unknown = false;
};

/// Replaces $releasever, $releasever_major, $basearch, $arch and their ${…} forms
/// (dnf.conf(5), VARIABLES), and the scope's own. Throws at `location` for any other variable
/// (unless the scope says to keep it) and for one without a value. A '$' that begins no name stays.
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
