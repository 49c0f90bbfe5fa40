#pragma once

#include <filesystem>

#include "blueprint/files.hpp"
#include "execution/context.hpp"
#include "selinux/store/policy_result.hpp"

namespace edgegpu::selinux {

/// Checks the final policy of a transaction, new or cached, against the blueprint: `require`,
/// `forbid`, and that containers can use the GPU if it requests that. `blueprint` is its file:
/// modules beside it are suggested. Throws the errors of check_rules, and Error if the choice for
/// containers was wrong.
void check_policy(const Context& ctx, const SelinuxRequest& request,
                  const std::filesystem::path& blueprint, const PolicyResult& policy);

}  // namespace edgegpu::selinux
