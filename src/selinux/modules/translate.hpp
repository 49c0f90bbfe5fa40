#pragma once

#include <string>

#include "execution/context.hpp"
#include "selinux/modules/compile.hpp"

namespace edgegpu::selinux {

/// A module in CIL.
struct Translation {
    /// empty if the module was not translated
    std::string cil;
    /// why the builder's tools cannot read the module, or empty
    std::string failure;
};

/// Translates a `.pp`, compressed or not, with the builder's own `hll/pp` in a sandbox, as semodule
/// does in the image; a `.cil` is returned unchanged. Without that program both members are empty.
/// Throws Error if a `.cil` cannot be read or the sandbox cannot be created.
[[nodiscard]] Translation translate(const Context& ctx, const CompiledModule& module);

}  // namespace edgegpu::selinux
