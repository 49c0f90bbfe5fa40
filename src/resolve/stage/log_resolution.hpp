#pragma once

#include "log/log.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Logs the resolution: kernel and driver, newer ones that were passed over, module streams, and
/// every package with its reason.
void log_resolution(const Log& log, const Resolution& resolution);

}  // namespace edgegpu
