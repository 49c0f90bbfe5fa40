#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "publish/deltas.hpp"

namespace edgegpu {

/// What the results of `publish` and `promote` have in common.

/// A row for each delta: "from 0123456789: 3.1 MB instead of 58 MB; devices need 120 MB free".
[[nodiscard]] std::string delta_rows(const std::vector<PublishedDelta>& deltas);

/// `deltas` of their schemas.
[[nodiscard]] nlohmann::ordered_json deltas_json(const std::vector<PublishedDelta>& deltas);

/// The deltas that a command line asks for. Throws ErrorKind::usage for a bad file or size.
[[nodiscard]] DeltaRequest delta_request(const DeltaChoice& choice);

}  // namespace edgegpu
