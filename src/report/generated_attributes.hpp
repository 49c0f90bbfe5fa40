#pragma once

#include <set>
#include <string>

#include "selinux/policy/policydb.hpp"

namespace edgegpu {

/// The rule lines of `after`, in which attributes that the policy compiler generates for sets of
/// types like `{ a b -c }` ("base_typeattr_23") have the name that `before` has for the same set.
/// These attributes are numbered again whenever a module changes; otherwise all rules with one
/// would differ. Types that only one of the policies has are ignored in comparing sets. A set that
/// `before` does not have gets a "+" after its name if the name denotes another set there.
[[nodiscard]] std::set<std::string> rule_lines_named_as(const selinux::PolicyDb& before,
                                                        const selinux::PolicyDb& after);

}  // namespace edgegpu
