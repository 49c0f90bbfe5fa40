#pragma once

#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage, with line and column in `file`, if a TOML document has more than 64
/// nested brackets and braces, or more than 64 parts in a dotted key: the parser and the destructor
/// of its result recurse over both. Strings and comments are skipped; malformed documents are left
/// to the parser.
void require_shallow_toml(const std::string& file, std::string_view text);

}  // namespace edgegpu
