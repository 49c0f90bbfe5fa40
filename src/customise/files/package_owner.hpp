#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The package that owns `path` ("bash-5.2-1"), according to the image's own rpm; empty if unknown.
/// For error messages only.
[[nodiscard]] std::string package_of(const Context& ctx, const Tree& tree, const std::string& path);

}  // namespace edgegpu
