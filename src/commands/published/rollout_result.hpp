#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "rollout/health.hpp"
#include "rollout/plan.hpp"

namespace edgegpu {

/// What `rollout` prints of a plan.

/// Of whom and when it is told.
struct RolloutMoment {
    /// Unix time
    std::int64_t now = 0;
    /// number of devices
    std::int64_t devices = 0;
};

/// "running", "planned", "paused" or "complete".
[[nodiscard]] const char* state_of(const PlannedRelease& release, std::int64_t now);

/// Rows (result_row) of the newest wave, of the others, of what is barred, and of the plan itself.
[[nodiscard]] std::string rollout_text(const RolloutPlan& plan, const RolloutMoment& moment);

/// `plan` of docs/schemas/rollout.json.
[[nodiscard]] nlohmann::ordered_json rollout_json(const RolloutPlan& plan,
                                                  const RolloutMoment& moment);

/// Rows of what devices report.
[[nodiscard]] std::string fleet_text(const RolloutPlan& plan, const FleetHealth& health);

/// `fleet` of the schema.
[[nodiscard]] nlohmann::ordered_json fleet_json(const RolloutPlan& plan, const FleetHealth& health);

}  // namespace edgegpu
