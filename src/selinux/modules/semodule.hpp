#pragma once

#include <vector>

#include "execution/process.hpp"
#include "rootfs/tool_root.hpp"
#include "selinux/modules/compile.hpp"
#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// Runs a semodule command on a copy of the store; checks the policy's neverallow rules if there
/// are modules of the blueprint. If only modules of packages violate them (container-selinux
/// violates some), runs the command again without the check, as on a device. The copy's
/// semanage.conf(5) is restored. Failures of semodule are returned.
[[nodiscard]] ProcessResult run_checked(ToolRoot& tools, const SandboxCommand& command,
                                        const StoreCopy& copy,
                                        const std::vector<CompiledModule>& modules);

}  // namespace edgegpu::selinux
