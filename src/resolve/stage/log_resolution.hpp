#pragma once

#include "resolve/resolution.hpp"
#include "support/log.hpp"

namespace edgegpu {

/// Writes what was decided to the log: kernel and driver, what was passed over for them, module
/// streams, and every package with the reason why it is there.
void log_resolution(const Log& log, const Resolution& resolution);

}  // namespace edgegpu
