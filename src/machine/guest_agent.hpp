#pragma once

#include "disk/injection.hpp"

namespace edgegpu {

/// The shell that answers Machine::run in the guest, and the unit that starts it as soon as basic
/// services are there, so that it also answers where the boot fails later: files below /etc, which
/// ostree carries over to the next deployment.
[[nodiscard]] Injection guest_agent();

}  // namespace edgegpu
