#pragma once

#include <string>

#include "selinux/modules/compile.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// A module of the blueprint in CIL.
struct Translation {
    /// empty where there is none
    std::string cil;
    /// why the builder's policy tools do not get through it, or empty
    std::string failure;
};

/// Translates a `.pp`, compressed or not, with the builder's own `hll/pp` in a sandbox, as semodule
/// does in the image; a `.cil` is taken as it is. Without that program there is neither CIL nor a
/// failure. Throws Error where a `.cil` cannot be read, or the sandbox cannot be made.
[[nodiscard]] Translation translate(const Context& ctx, const CompiledModule& module);

}  // namespace edgegpu::selinux
