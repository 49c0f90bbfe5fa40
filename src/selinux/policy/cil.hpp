#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::selinux {

/// A symbol or a list of the Common Intermediate Language, the form in which a policy store keeps
/// its modules (SELinux userspace, secilc/docs).
struct CilNode {
    /// empty for a list
    std::string atom;
    std::vector<CilNode> items;
};

/// A branch of a `booleanif` or `tunableif`.
struct CilCondition {
    CilNode expression;
    bool when = true;
};

/// Calls `visit` for each of the statements `allow`, `type`, `typeattribute`, `typeattributeset`,
/// `typealiasactual` and `boolean`, with the conditions around it, outermost first. Statements in
/// `optional`, `block` and `in` are visited as if they stood alone, macros are not called.
/// `where` names the text in errors. Throws Error for parentheses or strings that do not close,
/// and for lists nested deeper than any compiler makes them.
void read_cil(std::string_view text, std::string_view where,
              const std::function<void(const CilNode& statement,
                                       const std::vector<CilCondition>& conditions)>& visit);

/// The value of an expression of booleans, where those in `on` are true.
[[nodiscard]] bool evaluate(const CilNode& expression, const std::set<std::string>& on);
/// All conditions in the words of the policy language: "a && !b"; empty: none.
[[nodiscard]] std::string conditions_text(const std::vector<CilCondition>& conditions);

/// Whether a set of types or permissions, given by names and `and`, `or`, `xor`, `not`, `all`,
/// contains something that is called one of `names`.
[[nodiscard]] bool contains_any(const CilNode& set, const std::set<std::string>& names);

}  // namespace edgegpu::selinux
