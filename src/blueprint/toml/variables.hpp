#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// Values of dnf's variables, and the base of relative paths.
struct ParseScope {
    /// Absolute directory of the blueprint.
    std::filesystem::path directory;
    std::string releasever;
    /// $arch and $basearch, which are equal for all supported architectures.
    std::string basearch;
    /// Other variables: those of the build machine if its repositories are read, `stream` for
    /// CentOS Stream.
    std::map<std::string, std::string, std::less<>> variables = {};
    /// Leave unknown variables unexpanded, as dnf does in `.repo` files.
    bool keep_unknown = false;
};

/// Expands $releasever, $releasever_major, $basearch, $arch and `scope.variables`, also as ${…}
/// (dnf.conf(5), VARIABLES). Throws at `location` for other variables (unless `keep_unknown`) and
/// for those without a value. A '$' that does not begin a name is kept.
[[nodiscard]] std::string expand_variables(std::string_view text, const ParseScope& scope,
                                           const SourceLocation& location);

/// `text` as a normalised path, relative to `base` unless it is absolute.
[[nodiscard]] std::filesystem::path resolve_path(const std::filesystem::path& base,
                                                 std::string_view text);

/// Returns a URL (http, https, file) unchanged, and a path that begins with "/", "./" or "../" as
/// file:///…. Throws at `location` for anything else.
[[nodiscard]] std::string resolve_url(const std::filesystem::path& base, std::string_view text,
                                      const SourceLocation& location);

/// Path of a file that ships with edgegpu or belongs to the blueprint. A bare NAME is
/// BLUEPRINT_DIR/../KIND/NAME+SUFFIX or DATADIR/KIND/NAME+SUFFIX: the first that exists, or the
/// former if neither does. Anything with a slash, or (if `suffix` is not empty) with the extension
/// .te, .cil, .pp or .pp.bz2, is a path relative to the blueprint. KIND is "overlays", "manifests"
/// or "selinux".
[[nodiscard]] std::filesystem::path find_shipped(const ParseScope& scope, std::string_view kind,
                                                 std::string_view name, std::string_view suffix);

/// What to do about a file or directory `path` that does not exist: similar names beside it. With a
/// KIND of find_shipped also those that ship with edgegpu, and where both are looked for. May be
/// empty.
[[nodiscard]] std::string absent_file_hint(const std::filesystem::path& path,
                                           std::string_view kind = {});

}  // namespace edgegpu
