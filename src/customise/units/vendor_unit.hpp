#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Adds a unit of edgegpu to /usr/lib/systemd/system and a link that makes `target` want it. Both
/// are below /usr so that they exist on upgraded devices as well, whatever their /etc. Throws Error
/// if the image has no `target`.
void add_vendor_unit(const Context& ctx, Tree& tree, const std::string& name,
                     const std::string& target, const std::string& text);

}  // namespace edgegpu
