#pragma once

#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "customise/files/file_modes.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Adds `[[customizations.directories]]`, then `[[customizations.files]]`. An existing file is
/// replaced below /etc, which has configuration, and an error elsewhere. A file without a mode gets
/// that of `modes`. Throws ErrorKind::usage with the blueprint's line.
void add_files(const Context& ctx, const std::vector<FileRequest>& files, FileModes& modes,
               Tree& tree);

/// Adds manifests for MicroShift to the tree: absolute path → content. `location` is that of
/// `[microshift]`. Throws ErrorKind::usage for a path that the image has already, and for a second
/// kustomization in a directory.
void add_manifests(const Context& ctx, const SourceLocation& location,
                   const std::map<std::string, std::string>& manifests, Tree& tree);

}  // namespace edgegpu
