#pragma once

#include <optional>

#include "selinux/store/policy_result.hpp"
#include "support/context.hpp"
#include "support/store.hpp"

namespace edgegpu::selinux {

/// Finished policies, found by everything that decides the transaction.
inline constexpr StoreKind kept_policies{"policy", 4, EntryKind::policy};

/// The result that an entry keeps; nothing where content that it names is gone or damaged.
[[nodiscard]] std::optional<PolicyResult> load_policy(const Context& ctx, const StoredEntry& entry);

/// Puts a result into an entry, if it can be kept; contents are in the cache already.
void store_policy(const Context& ctx, NewEntry& entry, const PolicyResult& policy);

}  // namespace edgegpu::selinux
