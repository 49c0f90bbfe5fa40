#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Copies the blueprint's overlay directories over the tree, in order. Links are copied as links
/// and never followed on the builder; owners are those the blueprint names; modes are 0755
/// for directories and executables, 0644 for other files, whatever the builder's umask or owner.
/// Throws ErrorKind::usage for a path that the image has already (unless `replace`), for one
/// that a commit cannot carry (/proc, /run, /boot, /usr/local, …), and for devices and sockets.
void add_overlays(const Context& ctx, const Blueprint& blueprint, Tree& tree);

/// Adds `[[customizations.directories]]`, then `[[customizations.files]]`. A file that exists is
/// replaced below /etc, where configuration lives, and refused elsewhere.
void add_files(const Context& ctx, const Blueprint& blueprint, Tree& tree);

/// Copies the kustomize bundles to where MicroShift applies them at start: the first to
/// /etc/microshift/manifests, each further one to /etc/microshift/manifests.d/NAME. Each must
/// have exactly one kustomization file.
void add_bundles(const Context& ctx, const Blueprint& blueprint, Tree& tree);

}  // namespace edgegpu
