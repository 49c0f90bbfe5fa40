#pragma once

#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "selinux/policydb.hpp"

namespace edgegpu::selinux {

/// The rules of "allow S T:C { p q };": S, T and C may be several names in braces, T may be "self",
/// the semicolon may be missing. One AllowRule for each source, target and class. Throws
/// ErrorKind::usage "WHERE: … character N: …" for anything else.
[[nodiscard]] std::vector<AllowRule> parse_rule(std::string_view text, const SourceLocation& where);

}  // namespace edgegpu::selinux
