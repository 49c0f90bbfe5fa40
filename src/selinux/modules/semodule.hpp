#pragma once

#include <vector>

#include "sandbox/sandbox.hpp"
#include "selinux/modules/compile.hpp"
#include "selinux/store/store.hpp"
#include "support/context.hpp"
#include "support/process.hpp"

namespace edgegpu::selinux {

/// Runs a semodule command on a copy of the store, with the policy's neverallow rules checked if
/// there are modules of the blueprint. Rules that only the image's own packages break are the
/// distribution's affair (container-selinux breaks some): then it runs once more without the
/// check, as on a device. The copy's semanage.conf(5) stays what it was. A failure is returned.
[[nodiscard]] ProcessResult run_checked(const Context& ctx, const SandboxCommand& command,
                                        const StoreCopy& copy,
                                        const std::vector<CompiledModule>& modules);

}  // namespace edgegpu::selinux
