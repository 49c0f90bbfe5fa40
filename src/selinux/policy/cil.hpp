#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::selinux {

/// A symbol or a list of the Common Intermediate Language (SELinux userspace, secilc/docs), the
/// language of modules in a policy store.
struct CilNode {
    /// the symbol; empty for a list
    std::string atom;
    /// items of a list
    std::vector<CilNode> items;
};

/// A branch of a `booleanif` or `tunableif`.
struct CilCondition {
    CilNode expression;
    /// the value of `expression` for which the branch is in force
    bool when = true;
};

/// Calls `visit` for each statement `allow`, `type`, `typeattribute`, `typeattributeset`,
/// `typealiasactual` and `boolean`, with the conditions around it, outermost first. Statements in
/// `optional`, `block` and `in` are visited like any others; macros are not called. `where` is the
/// name of the text in errors. Throws Error for malformed text and for lists or blocks that are
/// nested deeper than a compiler nests them.
void read_cil(std::string_view text, std::string_view where,
              const std::function<void(const CilNode& statement,
                                       const std::vector<CilCondition>& conditions)>& visit);

/// The value of an expression of booleans if those in `on` are true and all others false.
[[nodiscard]] bool evaluate(const CilNode& expression, const std::set<std::string>& on);
/// All conditions in the syntax of the policy language: "a && !b"; empty without conditions.
[[nodiscard]] std::string conditions_text(const std::vector<CilCondition>& conditions);

/// Whether a set of types or permissions (names, `and`, `or`, `xor`, `not`, `all`) contains the
/// object that has `names`.
[[nodiscard]] bool contains_any(const CilNode& set, const std::set<std::string>& names);

}  // namespace edgegpu::selinux
