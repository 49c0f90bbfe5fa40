#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "rootfs/import.hpp"
#include "rootfs/scripts.hpp"
#include "rootfs/shims.hpp"
#include "rootfs/unite.hpp"

namespace edgegpu {

/// Runs everything that rpm would run while it installs `packages` into the mounted `tree.root`, in
/// which those before `first` are installed already:
/// %pre of all, then ownership, %post, triggers, %posttrans; finally systemd-sysusers if the image
/// has it, and ldconfig if a scriptlet called it. Fills tree.policy_calls and
/// tree.kernel_arguments. `scratch` is an empty directory of the builder. Throws Error "package
/// NEVRA: %post failed with exit status N" with the last lines of its output. Returns the calls of
/// useradd and groupadd (Shims::made_accounts).
std::vector<std::vector<std::string>> run_scriptlets(const Context& ctx, Tree& tree,
                                                     const std::vector<ImportedPackage>& packages,
                                                     std::size_t first,
                                                     const std::vector<NamedOwner>& owners,
                                                     const ParentAccounts& parent,
                                                     const std::filesystem::path& scratch);

/// Runs the image's ldconfig in `tree.root`, and removes its auxiliary cache, whose inodes and
/// times would differ in each build. Throws Error with its output if it fails.
void run_ldconfig(const Context& ctx, const Tree& tree);

}  // namespace edgegpu
