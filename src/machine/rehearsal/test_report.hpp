#pragma once

#include <string>

#include "machine/rehearsal/rehearsal.hpp"

namespace edgegpu {

/// One plain line per check, and what helps below those that failed. Control characters of the
/// guest are escaped; with `colored`, verdicts are coloured.
[[nodiscard]] std::string rehearsal_text(const Rehearsal& rehearsal, bool colored);

/// The JSON document "edgegpu-test/1" (docs/schemas/test.json). Bytes that are no UTF-8 are
/// replaced.
[[nodiscard]] std::string rehearsal_json(const Rehearsal& rehearsal);

/// JUnit's XML: a suite per phase, a case per check. Every character is one that XML 1.0 has.
[[nodiscard]] std::string rehearsal_junit(const Rehearsal& rehearsal);

}  // namespace edgegpu
