#pragma once

#include <string>

#include "commit/lock_wait.hpp"

namespace edgegpu {

/// The value of `--lock-wait`; empty: nothing.
[[nodiscard]] LockWait lock_wait_of(const std::string& text);

}  // namespace edgegpu
