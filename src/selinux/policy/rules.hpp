#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "selinux/policy/modules.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

/// Modules that rules may be from, for error messages.
struct RuleOrigins {
    /// reads the modules of the policy's store; called only if a check fails
    std::function<std::vector<ModuleText>()> modules;
    /// sources of modules that are shipped with edgegpu or beside the blueprint
    std::vector<std::filesystem::path> shipped;
};

/// Checks that the policy, with the values of its booleans, gives all permissions of the `require`
/// rules to all pairs of their types, and none of the `forbid` rules to any pair.
///
/// Throws ErrorKind::usage for a type, class or permission that the policy does not have, with
/// similar names; else Error with the rule and its location in the blueprint. For a required rule
/// it says what is missing, and which booleans (evaluated on the policy) or shipped module give it;
/// for a forbidden rule, which rules of the policy give it, and the policy modules they are from.
void check_rules(const PolicyDb& policy, const std::vector<PolicyRuleRequest>& require,
                 const std::vector<PolicyRuleRequest>& forbid, const RuleOrigins& origins);

}  // namespace edgegpu::selinux
