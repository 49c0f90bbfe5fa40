#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// Reads an element of `[[repositories]]`, with dnf's keys (dnf.conf(5), REPO OPTIONS). Paths are
/// relative to the directory of the file that has it. Throws ErrorKind::usage.
[[nodiscard]] Repository read_repository(const TableReader& table, const ParseScope& scope);

/// The content of a `.repo` file.
struct RepoFile {
    std::vector<Repository> repositories;
    /// About unknown keys, which dnf ignores as well, and unsupported ones.
    std::vector<std::string> warnings;
};

/// Reads a `.repo` file as dnf does: the last value of a repeated key wins, repeated sections are
/// merged, `[main]` is ignored, and `repo_gpgcheck` is off by default. Mistakes of disabled
/// repositories are ignored. Messages call the file `file`; it is read at `path`, to whose
/// directory paths are relative. Throws ErrorKind::usage with all mistakes and their lines.
[[nodiscard]] RepoFile read_repo_file(const std::string& file, const std::filesystem::path& path,
                                      ParseScope scope);

/// Adds the repositories of a `.repo` file, and its warnings. A repository with the id of an
/// earlier one is ignored with a warning, as in dnf.
void add_repo_file(RepoFile file, Blueprint& blueprint);

/// Checks the id and that there is a source, expands variables, and resolves URLs and paths against
/// `base`. Throws ErrorKind::usage.
void finish_repository(Repository& repository, const ParseScope& scope,
                       const std::filesystem::path& base);

}  // namespace edgegpu
