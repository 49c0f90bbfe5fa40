#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <ostree.h>

#include "execution/context.hpp"

namespace edgegpu {

/// How long a repository's lock is waited for; nothing: as its config says (lock-timeout-secs), or
/// 30 seconds.
using LockWait = std::optional<std::chrono::seconds>;

/// How long that is for a repository; nothing: without end.
[[nodiscard]] std::optional<std::chrono::seconds> limit_of_wait(OstreeRepo* repo,
                                                                const LockWait& wait);

/// Waits until nobody's lock keeps one of this kind from being taken, and notes meanwhile who has
/// it. Returns at once if this process has locked the repository itself. Somebody else may take it
/// next. Throws Error with `hint` when that time is over; ErrorKind::interrupted.
void wait_until_unlocked(const Context& ctx, OstreeRepo* repo, const std::string& shown,
                         OstreeRepoLockType type, const LockWait& wait, const std::string& hint);

}  // namespace edgegpu
