#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// What the command line adds to a blueprint.
struct BlueprintOptions {
    /// `.repo` files (`--repository-file`), their repositories come after the blueprint's own.
    std::vector<std::filesystem::path> repository_files;
    /// Overrides `distro` ("rhel-9.4"); empty: the blueprint's own, else this machine's.
    std::string distro;
};

/// Reads and checks a blueprint file (and the `.repo` files it names). Touches no network. Where
/// neither says it, distribution and repositories are those of this machine
/// (blueprint/distro/host.hpp). Throws ErrorKind::usage whose message begins "FILE:LINE:COLUMN: ";
/// where there are several mistakes it has all of them, in order of lines
/// (blueprint/toml/mistakes.hpp).
[[nodiscard]] Blueprint parse_blueprint(const std::filesystem::path& path,
                                        const BlueprintOptions& options = {});

/// Both at once: throws one ErrorKind::usage with the mistakes that either finds.
[[nodiscard]] Blueprint load_blueprint(const std::filesystem::path& path,
                                       const BlueprintOptions& options = {});

}  // namespace edgegpu
