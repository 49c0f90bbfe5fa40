#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "selinux/modules/compile.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu::selinux {

/// Whether semodule's output says that a neverallow rule of the policy is broken.
[[nodiscard]] bool is_broken_neverallow(const std::string& output);

/// Whether the output points into one of the modules.
[[nodiscard]] bool concerns(const std::vector<CompiledModule>& modules, const std::string& output);

/// Types and attributes that module files (`.pp`, compressed or not, `.cil`) declare.
[[nodiscard]] std::set<std::string> declared_types(const Context& ctx,
                                                   const std::vector<CompiledModule>& modules);

/// Whether the image's policy has a type, an alias or an attribute of this name.
using KnowsType = std::function<bool(std::string_view)>;

/// Explains a failed policy transaction: where semodule's output points into a module of the
/// blueprint, the Error (ErrorKind::usage) names file and line of its source and what does not fit:
/// a type that is missing, one that is declared already, a broken neverallow with both rules, a
/// file context that the policy does not know. Else it carries the output.
///
/// semodule stops at the first missing type; with `knows_type` the Error names all of them, each
/// with the package that it may come with, guessed from its name, where the name gives one away.
[[nodiscard]] Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                                    const std::string& output, const KnowsType& knows_type = {});

}  // namespace edgegpu::selinux
