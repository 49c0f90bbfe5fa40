#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Puts the blueprint's overlays, directories and archives, over the tree, in order. Owners are
/// those of the overlay or of the last of its rules that fits; modes are 0755 for directories and
/// programs, 0644 for other files, whatever the builder's umask or the archive says, unless a rule
/// says otherwise: set-id bits come from rules alone, and others are warned of. Directories that
/// the image has stay as they are, unless `replace`. Labels of rules are the policy's matter
/// (selinux/labels/overlay_labels.hpp); here only the objects of the overlay may fit their
/// patterns.
///
/// Only what the build took of them (`stored`) is read.
///
/// Throws ErrorKind::usage for a path that the image has already, naming its package where the
/// image's own rpm knows it (unless `replace`), and for whatever `visit_overlay` refuses. Returns
/// the paths in the image of what was put there.
std::set<std::string> add_overlays(const Context& ctx, const std::vector<OverlayRequest>& overlays,
                                   Tree& tree);

/// The same for one; with `plain`, links are refused as well.
std::set<std::string> add_overlay(const Context& ctx, const OverlayRequest& overlay, Tree& tree,
                                  bool plain = false);

/// Throws Error unless the build took a copy (pipeline/snapshot.hpp) of what lies at `source`: no
/// stage reads the user's own files.
void require_stored(bool stored, const std::filesystem::path& source);

}  // namespace edgegpu
