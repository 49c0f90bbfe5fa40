#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/document/document.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// Command-line options that affect a blueprint.
struct BlueprintOptions {
    /// `.repo` files (`--repository-file`); their repositories follow the blueprint's own.
    std::vector<std::filesystem::path> repository_files;
    /// Overrides `distro` ("rhel-9.4"); empty: that of the blueprint, else of the build machine.
    std::string distro;
    GivenParameters parameters = {};
};

/// Reads a blueprint file, the files that it extends and the `.repo` files that it names, without
/// network. Unless blueprint or
/// options specify them, distribution and repositories are those of the build machine
/// (blueprint/distro/host.hpp). Throws ErrorKind::usage with all mistakes in order of lines, each
/// beginning "FILE:LINE:COLUMN: " (blueprint/toml/mistakes.hpp).
[[nodiscard]] Blueprint parse_blueprint(const std::filesystem::path& path,
                                        const BlueprintOptions& options = {});

/// parse_blueprint and check_blueprint in one: throws one ErrorKind::usage with the mistakes of
/// both; the warnings of both are in the blueprint.
[[nodiscard]] Blueprint load_blueprint(const std::filesystem::path& path,
                                       const BlueprintOptions& options = {});

/// A blueprint, and the TOML that it was read from.
struct ReadBlueprint {
    Blueprint blueprint;
    Document document;
    /// The paths in it.
    LocatedPaths paths;
};

/// load_blueprint with what `edgegpu check --print` needs.
[[nodiscard]] ReadBlueprint load_with_document(const std::filesystem::path& path,
                                               const BlueprintOptions& options);

/// Reads of a blueprint file only what `edgegpu image` needs: version, `[ostree]`, `[image]`,
/// `customizations.filesystem` and `.disk`, so that the other files that it names need not exist.
/// Throws as parse_blueprint does.
[[nodiscard]] ReadBlueprint parse_image_settings(const std::filesystem::path& path,
                                                 const GivenParameters& parameters = {});

}  // namespace edgegpu
