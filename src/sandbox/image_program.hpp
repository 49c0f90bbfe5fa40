#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Whether an image has a program in one of the directories in which all programs are.
[[nodiscard]] bool has_program(const Tree& tree, std::string_view name);

/// Runs a program of the image in it. Throws Error, with what the program has said, unless it ends
/// with status 0; the message begins with `place`, if that is not empty.
void run_image_program(const Context& ctx, const Tree& tree, const std::vector<std::string>& argv,
                       const std::string& place = "");

}  // namespace edgegpu
