#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "rootfs/package_graph.hpp"
#include "selinux/store/policy_result.hpp"

namespace edgegpu {

/// The policy transaction: compiles the blueprint's modules, then applies tree.policy_calls and the
/// blueprint's modules, booleans and overlay labels with one run of the image's own semodule, in a
/// root of the packages that it needs (policy_tools, of `graph`), on a copy of the store. Modules
/// with macros are compiled in a root of `policy_root`. With `gpu_containers`, the boolean and the
/// module that give containers access to the GPU are chosen by the policy's rules and added. The
/// finished policy is checked against `require` and `forbid`. Cached by the digest of all inputs.
/// Does not change `tree`, so that build_initramfs may run at the same time. Throws
/// ErrorKind::usage with the user's file and line for errors in modules, for an unknown boolean
/// (with similar names), and the errors of check_rules.
[[nodiscard]] PolicyResult build_policy(const Context& ctx, const Blueprint& blueprint,
                                        const Tree& tree, const PackageGraph& graph,
                                        const PackageFiles& policy_root = {});

/// Applies a policy result to tree.entries, and removes `replay_directory`.
void apply_policy(Tree& tree, const PolicyResult& policy);

}  // namespace edgegpu
