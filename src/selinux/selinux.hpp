#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "fetch/fetch.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The files of the policy transaction's result, to be put into the tree.
struct PolicyResult {
    /// absolute path in the image → entry: everything below /etc/selinux and the store
    Entries entries;
    /// paths of the tree that the transaction removed
    std::vector<std::string> removed;
    /// "targeted"
    std::string type;
    /// names of the blueprint's modules that were installed
    std::vector<std::string> modules;
    /// how ordinary containers get the GPU and why so, where the blueprint asks for it
    std::string gpu_access;
};

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

/// Labels every entry from the tree's own final file_contexts ("/usr/etc/x" looked up as "/etc/x").
/// Runs after finish_layout. What the policy gives no label ("<<none>>": mount points) gets that of
/// its directory, with a note; a policy without a label for / is an Error.
void label_tree(const Context& ctx, Tree& tree);

}  // namespace edgegpu
