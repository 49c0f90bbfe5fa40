#pragma once

#include <filesystem>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"
#include "selinux/policy/gpu_access.hpp"
#include "selinux/store/calls.hpp"
#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// Chooses how containers get access to the GPU, if the blueprint requests it, before the only run
/// of semodule, and adds the boolean to the transaction. The choice depends on the image's binary
/// policy and the CIL of modules that the transaction adds or, if one of these replaces a module of
/// the store, on the CIL of all modules. Module packages are translated by the image's own tool in
/// `tools`, below the directory of `copy`. The finished policy must be checked, since optional
/// blocks may turn out not to be in force.
///
/// Throws what choose_gpu_access throws, and Error for a module that cannot be translated.
[[nodiscard]] GpuAccess plan_gpu_access(const SelinuxRequest& request, const Tree& tree,
                                        ToolRoot& tools, const PolicyPaths& paths,
                                        const StoreCopy& copy, Transaction& transaction);

/// Sources of the blueprint's modules and of the one that the choice needs.
[[nodiscard]] std::vector<std::filesystem::path> module_sources(const SelinuxRequest& request,
                                                                const GpuAccess& access);

}  // namespace edgegpu::selinux
