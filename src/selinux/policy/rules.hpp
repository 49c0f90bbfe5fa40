#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "selinux/policy/modules.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

/// Who could be behind a rule; asked only where a check fails.
struct RuleOrigins {
    /// the modules of the policy's store
    std::function<std::vector<ModuleText>()> modules;
    /// sources of modules that a blueprint may name
    std::vector<std::filesystem::path> shipped;
};

/// Checks that the policy, with the values its booleans have, gives every permission of the
/// `require` rules to every pair of their types, and none of the `forbid` rules to any.
///
/// Throws ErrorKind::usage for a type, class or permission that the policy does not know, with near
/// names; else an Error that names the rule with its place in the blueprint and: for a required one
/// what is missing, which boolean gives it (tried on the policy) and which shipped module; for a
/// forbidden one the rule that gives it, as the policy has it, and the policy module that brings
/// it.
void check_rules(const PolicyDb& policy, const std::vector<PolicyRuleRequest>& require,
                 const std::vector<PolicyRuleRequest>& forbid, const RuleOrigins& origins);

}  // namespace edgegpu::selinux
