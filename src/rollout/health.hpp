#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rollout/plan.hpp"
#include "rollout/reports.hpp"

namespace edgegpu {

/// A device that failed with a commit, and how.
struct FailedDevice {
    std::string id;
    std::string reason;
};

/// What the devices of a ref say; of each its newest report counts.
struct FleetHealth {
    /// those that have reported
    std::size_t devices = 0;
    /// checksum → how many run it
    std::map<std::string, std::size_t> running;
    /// Of the commit that is rolled out: who has come to an end with it, well or not; who has not
    /// yet.
    std::size_t tried = 0;
    std::size_t pending = 0;
    /// by id
    std::vector<FailedDevice> failed;
    /// By id: devices with the commit whose GPUs have a fault that is not the commit's, as far as
    /// is known, and which.
    std::vector<FailedDevice> gpu_faults;
    /// group → how many of its devices have failed, or are on their way
    std::map<std::string, std::size_t> unavailable;
    /// who has had their turn, and who has theirs in the next hour, by the ids of the reports
    std::size_t had_turn = 0;
    std::size_t next_hour = 0;
    /// reports that are none, and those of other refs and from the future
    std::size_t ignored = 0;
};

/// Judges the reports by the newest wave of a plan (docs/rollouts.md says what a failure is). `now`
/// is Unix time.
[[nodiscard]] FleetHealth judge_health(const RolloutPlan& plan, const DeviceReports& reports,
                                       std::int64_t now);

/// When a rollout is stopped.
struct HealthLimits {
    /// share of failures among those that have tried, in parts per million
    std::optional<std::int64_t> failures;
    /// of a group
    std::optional<std::size_t> unavailable;
    /// while fewer have tried, failures do not count
    std::size_t least_tried = 1;
};

/// Why the rollout has to stop, or nothing.
[[nodiscard]] std::optional<std::string> reason_to_stop(const FleetHealth& health,
                                                        const HealthLimits& limits);

}  // namespace edgegpu
