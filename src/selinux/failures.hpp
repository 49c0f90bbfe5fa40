#pragma once

#include <string>
#include <vector>

#include "selinux/compile.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu::selinux {

/// Whether semodule's output says that a neverallow rule of the policy is broken.
[[nodiscard]] bool is_broken_neverallow(const std::string& output);

/// Whether the output points into one of the modules.
[[nodiscard]] bool concerns(const std::vector<CompiledModule>& modules, const std::string& output);

/// Explains a failed policy transaction: where semodule's output points into a module of the
/// blueprint, the Error (ErrorKind::usage) names file and line of its source and what does not fit:
/// a type that is missing, one that is declared already, a broken neverallow with both rules, a
/// file context that the policy does not know. Else it carries the output.
[[nodiscard]] Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                                    const std::string& output);

}  // namespace edgegpu::selinux
