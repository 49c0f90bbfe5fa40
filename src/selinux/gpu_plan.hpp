#pragma once

#include <filesystem>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "selinux/policy/gpu_access.hpp"
#include "selinux/store/calls.hpp"
#include "selinux/store/store.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// Chooses how containers get the GPU, where the blueprint asks for it, before the one run of
/// semodule, and adds the boolean to the transaction. Decided by the image's binary policy and the
/// CIL of the modules that the transaction adds to it, or, where one of these replaces a module of
/// the store, by the CIL of all modules. Module packages are translated by the image's own tool in
/// the sandbox, below the directory of `copy`. The finished policy is to be checked, for blocks
/// may turn out to be left out of it.
///
/// Throws what choose_gpu_access throws, and Error for a module that cannot be translated.
[[nodiscard]] GpuAccess plan_gpu_access(const Context& ctx, const Blueprint& blueprint,
                                        const Tree& tree, const PolicyPaths& paths,
                                        const StoreCopy& copy, Transaction& transaction);

/// Sources of the blueprint's modules and of the one that the choice needs.
[[nodiscard]] std::vector<std::filesystem::path> module_sources(const Blueprint& blueprint,
                                                                const GpuAccess& access);

}  // namespace edgegpu::selinux
