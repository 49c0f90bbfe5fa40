#pragma once

#include <set>
#include <string>

#include "selinux/policy/policydb.hpp"

namespace edgegpu {

/// The rule lines of `after`, with the attributes that the policy compiler makes up
/// ("base_typeattr_23", for the sets in rules like `allow { a b -c } …`) named as `before` names
/// the same set of types: they are numbered anew whenever a module changes, and every rule with
/// one would else count as lost and gained. Types that only one of the policies has do not count.
/// A set that `before` lacks gets a "+" behind its name where that means another set there.
[[nodiscard]] std::set<std::string> rule_lines_named_as(const selinux::PolicyDb& before,
                                                        const selinux::PolicyDb& after);

}  // namespace edgegpu
