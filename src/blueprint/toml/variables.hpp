#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/toml/toml_reader.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Paths and URLs of a blueprint as absolute ones, by the place of the text that names them and
/// that text.
using LocatedPaths = std::map<std::pair<std::string, std::string>, std::string>;

/// Values of dnf's variables.
struct ParseScope {
    std::string releasever;
    /// $arch and $basearch, which are equal for all supported architectures.
    std::string basearch;
    /// Other variables: those of the build machine if its repositories are read, `stream` for
    /// CentOS Stream.
    std::map<std::string, std::string, std::less<>> variables = {};
    /// Leave unknown variables unexpanded, as dnf does in `.repo` files.
    bool keep_unknown = false;
    /// Gets the paths that are read, unless it is null.
    LocatedPaths* paths = nullptr;
};

/// Expands $releasever, $releasever_major, $basearch, $arch and `scope.variables`, also as ${…}
/// (dnf.conf(5), VARIABLES). Throws at `location` for other variables (unless `keep_unknown`) and
/// for those without a value. A '$' that does not begin a name is kept.
[[nodiscard]] std::string expand_variables(std::string_view text, const ParseScope& scope,
                                           const SourceLocation& location);

/// `text` as a normalised path, relative to `base` unless it is absolute.
[[nodiscard]] std::filesystem::path resolve_path(const std::filesystem::path& base,
                                                 std::string_view text);

/// `text` as a normalised path, relative to the directory of the file that says it: a blueprint, or
/// one that it extends. Recorded in `scope.paths`.
[[nodiscard]] std::filesystem::path path_at(const ParseScope& scope, const SourceLocation& location,
                                            std::string_view text);

/// Records that a text of the blueprint is the path or URL `absolute`.
void record_path(const ParseScope& scope, const LocatedString& text, const std::string& absolute);

/// The directory of the file of a location, absolute.
[[nodiscard]] std::filesystem::path directory_of(const SourceLocation& location);

/// Returns a URL (http, https, file) unchanged, and a path that begins with "/", "./" or "../" as
/// file:///…. Throws at `location` for anything else.
[[nodiscard]] std::string resolve_url(const std::filesystem::path& base, std::string_view text,
                                      const SourceLocation& location);

/// Path of a file that ships with edgegpu or belongs to the blueprint; `text` is what names it. A
/// bare NAME is DIR/../KIND/NAME+SUFFIX, where DIR is the directory of the file that says it, or
/// DATADIR/KIND/NAME+SUFFIX: the first that exists, or the former if neither does. Anything with a
/// slash, or (if `suffix` is not empty) with the extension .te, .cil, .pp or .pp.bz2, is a path
/// relative to DIR. KIND is "overlays", "manifests" or "selinux". Recorded in `scope.paths`.
[[nodiscard]] std::filesystem::path find_shipped(const ParseScope& scope, std::string_view kind,
                                                 const LocatedString& text,
                                                 std::string_view suffix);

/// What to do about a file or directory `path` that does not exist: similar names beside it. With a
/// KIND of find_shipped also those that ship with edgegpu, and where both are looked for. May be
/// empty.
[[nodiscard]] std::string absent_file_hint(const std::filesystem::path& path,
                                           std::string_view kind = {});

}  // namespace edgegpu
