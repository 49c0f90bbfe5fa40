#pragma once

#include "disk/injection.hpp"

namespace edgegpu {

/// The shell that answers Machine::run in the guest, and the unit that starts it after
/// multi-user.target: files below /etc, which ostree carries over to the next deployment.
[[nodiscard]] Injection guest_agent();

}  // namespace edgegpu
