#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// One element of `[[repositories]]`, with dnf's names (dnf.conf(5), REPO OPTIONS). Relative
/// paths begin at the blueprint's directory. Throws ErrorKind::usage.
[[nodiscard]] Repository read_repository(const TableReader& table, const ParseScope& scope);

/// A `.repo` file.
struct RepoFile {
    std::vector<Repository> repositories;
    /// What dnf passes over too: keys that it does not know.
    std::vector<std::string> warnings;
};

/// Reads a `.repo` file as dnf does: what a section repeats counts last, `[main]` counts nothing, a
/// section that comes twice is one. `repo_gpgcheck` is off unless the file says otherwise.
/// Mistakes of repositories that are not enabled do not matter. `file` is how messages name it,
/// `path` where it is; relative paths begin at its directory. Throws ErrorKind::usage with line
/// numbers, all mistakes at once.
[[nodiscard]] RepoFile read_repo_file(const std::string& file, const std::filesystem::path& path,
                                      ParseScope scope);

/// Adds the repositories of a `.repo` file, and its warnings. A repository whose id another has
/// already is left out with a warning, as dnf does it.
void add_repo_file(RepoFile file, Blueprint& blueprint);

/// Checks the id and that there is a source, replaces variables, and resolves URLs and paths
/// against `base`.
void finish_repository(Repository& repository, const ParseScope& scope,
                       const std::filesystem::path& base);

}  // namespace edgegpu
