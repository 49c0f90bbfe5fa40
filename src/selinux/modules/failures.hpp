#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "selinux/modules/compile.hpp"
#include "support/error.hpp"

namespace edgegpu::selinux {

/// Whether semodule's output says that a neverallow rule of the policy is violated.
[[nodiscard]] bool is_broken_neverallow(const std::string& output);

/// Whether semodule's output refers to a line of one of the modules.
[[nodiscard]] bool concerns(const std::vector<CompiledModule>& modules, const std::string& output);

/// Types, aliases and attributes that module files (`.pp`, compressed or not, `.cil`) declare.
[[nodiscard]] std::set<std::string> declared_types(const Context& ctx,
                                                   const std::vector<CompiledModule>& modules);

/// What types, aliases and attributes the image's policy has.
struct KnownTypes {
    /// Whether it has one of this name.
    std::function<bool(std::string_view)> has;
    /// The names, for "did you mean".
    std::vector<std::string> names;
};

/// The Error for a failed policy transaction. If semodule's output refers to a module of the
/// blueprint, it is ErrorKind::usage with file and line of the source and the reason: a missing
/// type, one that is declared already, a violated neverallow rule, an unknown file context. Else it
/// has the output.
///
/// semodule stops at the first missing type; with `known` the Error names all of them, each with
/// similar names, or else the package that may define it, guessed from the name.
[[nodiscard]] Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                                    const std::string& output, const KnownTypes& known = {});

}  // namespace edgegpu::selinux
