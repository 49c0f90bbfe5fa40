#pragma once

#include <filesystem>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "image/tree.hpp"
#include "rootfs/package_graph.hpp"
#include "rootfs/tool_root.hpp"
#include "selinux/selinux.hpp"

namespace edgegpu {

/// Gives the tree what a commit of ostree has: policy, initramfs, layout and labels. Afterwards
/// `tools` cannot be used.
void finish_for_ostree(const Context& ctx, const Blueprint& blueprint, const PackageGraph& graph,
                       const PackageFiles& policy_root, Tree& tree, ToolRoot& tools,
                       Stages& stages);

/// Gives the tree the layout of an image for snapshots. Devices make the initramfs, and label their
/// files, when they take the image up.
void finish_for_snapshots(const Context& ctx, Tree& tree, Stages& stages);

/// Warns of files in /etc that `commit`, an image for snapshots, has otherwise than `parent`, or
/// not: devices with that one keep what they have. Never throws for what cannot be read.
void warn_of_kept_configuration(const Context& ctx, const std::filesystem::path& repository,
                                const Parent& parent, const Commit& commit);

}  // namespace edgegpu
