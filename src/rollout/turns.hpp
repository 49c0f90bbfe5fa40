#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollout/plan.hpp"

namespace edgegpu {

/// The place of a device in the wave to a commit, 0 to 999999: another one for each commit.
[[nodiscard]] std::int64_t position_of(std::string_view device, std::string_view commit);

/// The share of devices that have had their turn at a time, in parts per million.
[[nodiscard]] std::int64_t share_at(const RolloutWave& wave, std::int64_t time);

/// The first second at which a device of this position has its turn; nothing: never, as the wave
/// is.
[[nodiscard]] std::optional<std::int64_t> turn_of(const RolloutWave& wave, std::int64_t position);

/// How many of a number of devices had their turn at a time.
[[nodiscard]] std::int64_t devices_at(const RolloutWave& wave, std::int64_t time,
                                      std::int64_t devices);

/// A device, as far as a plan asks for it.
struct DeviceState {
    std::string id;
    /// the commit that it runs
    std::string commit;
    /// PCI device ids of its NVIDIA GPUs, "1db4"
    std::vector<std::string> gpus;
};

/// What a device does by a plan.
enum class DeviceChoice : std::uint8_t {
    target,   ///< it gets a commit
    waits,    ///< its turn comes later, or not as the plan is
    barred,   ///< each edge is barred for one of its GPUs
    no_edge,  ///< nothing leads from the commit that it runs to another one
    unknown,  ///< that commit is no release of the plan
    expired   ///< the plan has expired
};

/// The same with what belongs to it.
struct DeviceDecision {
    DeviceChoice choice = DeviceChoice::no_edge;
    /// of `target`: checksum
    std::string target;
    /// of `waits`: the first second at which a wave reaches it, if one does
    std::optional<std::int64_t> turn;
    /// of `barred`
    std::string reason;
};

/// What devices decide by a plan of their ref (docs/rollouts.md).
[[nodiscard]] DeviceDecision decide(const RolloutPlan& plan, const DeviceState& device,
                                    std::int64_t time);

/// Whether everybody has had their turn.
[[nodiscard]] bool is_complete(const RolloutWave& wave, std::int64_t time);

/// The release with the newest wave; nullptr if the plan has none.
[[nodiscard]] const PlannedRelease* newest_wave(const RolloutPlan& plan);

}  // namespace edgegpu
