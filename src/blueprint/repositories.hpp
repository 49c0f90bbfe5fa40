#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml_reader.hpp"
#include "blueprint/variables.hpp"

namespace edgegpu {

/// One element of `[[repositories]]`, with dnf's names (dnf.conf(5), REPO OPTIONS). Relative
/// paths begin at the blueprint's directory. Throws ErrorKind::usage.
[[nodiscard]] Repository read_repository(const TableReader& table, const ParseScope& scope);

/// All repositories of a `.repo` file. `file` is how messages name it, `path` where it is.
/// Relative paths begin at the directory of that file. Throws ErrorKind::usage with line numbers.
[[nodiscard]] std::vector<Repository> read_repo_file(const std::string& file,
                                                     const std::filesystem::path& path,
                                                     const ParseScope& scope);

/// Checks the id and that there is a source, replaces variables, and resolves URLs and paths
/// against `base`.
void finish_repository(Repository& repository, const ParseScope& scope,
                       const std::filesystem::path& base);

}  // namespace edgegpu
