#pragma once

#include <string>

#include "execution/context.hpp"
#include "gpu_health/stack.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Where an image has it.
inline constexpr const char* gpu_stack_path = "/usr/lib/edgegpu/gpu-stack.json";

/// The GPU software of an image with a driver of this version: its kernel modules, firmware,
/// libraries and packages. Throws Error for a module that cannot be read.
[[nodiscard]] gpu_health::Stack gpu_stack_of(const std::string& driver_version, const Tree& tree);

/// Writes it to the image, as JSON; nothing without a driver (an empty version).
void add_gpu_stack(const Context& ctx, const std::string& driver_version, Tree& tree);

}  // namespace edgegpu
