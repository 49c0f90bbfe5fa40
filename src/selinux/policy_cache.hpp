#pragma once

#include <optional>
#include <string>

#include "selinux/store/policy_result.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// The result kept under `policy/DIGEST` of the cache, or nothing where there is none, it is
/// damaged, or content it names is gone.
[[nodiscard]] std::optional<PolicyResult> load_policy(const Context& ctx,
                                                      const std::string& digest);

/// Keeps a result: one manifest, written atomically; contents are in the cache already.
void store_policy(const Context& ctx, const std::string& digest, const PolicyResult& policy);

}  // namespace edgegpu::selinux
