#pragma once

#include <string>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Puts a unit of edgegpu's own into /usr/lib/systemd/system and makes `target` want it there.
/// Below /usr neither can be missing on a device whose /etc has a history. Throws Error where the
/// image has no systemd.
void add_vendor_unit(const Context& ctx, Tree& tree, const std::string& name,
                     const std::string& target, const std::string& text);

}  // namespace edgegpu
