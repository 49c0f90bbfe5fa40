#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"

namespace edgegpu::selinux {

/// "allow SOURCE TARGET:TCLASS { PERMISSIONS };": source and target are a type, an alias or an
/// attribute; the target may be "self".
struct AllowRule {
    std::string source;
    std::string target;
    std::string tclass;
    std::set<std::string> permissions;

    /// The rule in the policy language, without the semicolon.
    [[nodiscard]] std::string text() const;
};

/// Parses "allow S T:C { p q };": S, T and C may be several names in braces, T may be "self", the
/// semicolon is optional. Returns one AllowRule for each source, target and class. Throws
/// ErrorKind::usage "WHERE: … character N: …" for anything else.
[[nodiscard]] std::vector<AllowRule> parse_rule(std::string_view text, const SourceLocation& where);

}  // namespace edgegpu::selinux
