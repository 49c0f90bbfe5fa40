#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "selinux/store/policy_result.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// One policy transaction: compiles the blueprint's modules, replays tree.policy_calls and the
/// blueprint's modules and booleans with the image's own semodule in the sandbox, on a copy of
/// the store, and builds the policy once. Modules with macros are compiled in a root of
/// `policy_root`. Cached by the digest of store and calls. Does not change `tree` (runs beside
/// build_initramfs). With `gpu_containers`, the boolean and the module that give containers the GPU
/// are chosen from the policy's rules and added. The finished policy must hold what `require` and
/// `forbid` say. Throws Error pointing at the user's file and line for compile errors,
/// ErrorKind::usage for an unknown boolean (with near names), and what check_rules throws.
[[nodiscard]] PolicyResult build_policy(const Context& ctx, const Blueprint& blueprint,
                                        const Tree& tree, const PackageFiles& policy_root = {});

/// Puts a policy result into tree.entries.
void apply_policy(Tree& tree, const PolicyResult& policy);

}  // namespace edgegpu
