#pragma once

#include "blueprint/blueprint.hpp"
#include "selinux/store/policy_result.hpp"

namespace edgegpu::selinux {

/// Checks the finished policy of a transaction, made now or kept from an earlier build, against
/// the blueprint: `require`, `forbid`, and that containers did get the GPU where it asks for that.
/// Throws what check_rules throws, and an Error where the choice for containers was wrong.
void check_policy(const Blueprint& blueprint, const PolicyResult& policy);

}  // namespace edgegpu::selinux
