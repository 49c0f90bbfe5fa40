#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "blueprint/blueprint.hpp"
#include "customise/files/file_modes.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Copies the blueprint's overlays (directories and archives) into the tree, in order. Owner and
/// mode are those of the last matching rule, else the overlay's owner and what `modes` chooses;
/// directories have the mode in the archive, else 0755. Set-id bits come from rules alone, others
/// are ignored with a warning. Existing directories keep owner and mode unless `replace`. Labels of
/// rules are set by the selinux stage (selinux/labels/overlay_labels.hpp); here their patterns are
/// only checked to match nothing outside of the overlay.
///
/// Reads only the build's own copy of them (`stored`).
///
/// Throws ErrorKind::usage for a path that the image has already (unless `replace`), naming its
/// package if the image's rpm knows it, and for whatever `visit_overlay` refuses. Returns the paths
/// in the image of everything that was added or replaced, each with the user's file:
/// "OVERLAY/NAME", or "ARCHIVE (NAME)".
std::map<std::string, std::string> add_overlays(const Context& ctx,
                                                const std::vector<OverlayRequest>& overlays,
                                                FileModes& modes, Tree& tree);

/// Throws Error if the build has no copy (pipeline/snapshot.hpp) of the user's file `source`: no
/// stage reads the user's own files.
void require_stored(bool stored, const std::filesystem::path& source);

}  // namespace edgegpu
