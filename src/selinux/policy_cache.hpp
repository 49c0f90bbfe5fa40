#pragma once

#include <optional>

#include "cache/store.hpp"
#include "execution/context.hpp"
#include "selinux/store/policy_result.hpp"

namespace edgegpu::selinux {

/// Finished policies, by the digest of everything that the transaction depends on.
inline constexpr StoreKind kept_policies{"policy", EntryKind::policy};

/// The result in an entry; nothing if content that it refers to is missing or damaged.
[[nodiscard]] std::optional<PolicyResult> load_policy(const Context& ctx, const StoredEntry& entry);

/// Writes a result to an entry; contents of files are in the cache already. Forgets the entry if
/// the result cannot be represented (format_entries).
void store_policy(const Context& ctx, NewEntry& entry, const PolicyResult& policy);

}  // namespace edgegpu::selinux
