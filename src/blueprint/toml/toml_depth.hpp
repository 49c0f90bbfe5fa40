#pragma once

#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage, at its line and column in `file`, for the first place of a TOML
/// document that nests deeper than any blueprint: more than 64 brackets and braces in each other,
/// or more than 64 parts in a dotted key. The parser recurses over both, and so does what frees
/// its result; this does not. Strings and comments are passed over; a malformed document is left
/// for the parser to judge.
void require_shallow_toml(const std::string& file, std::string_view text);

}  // namespace edgegpu
