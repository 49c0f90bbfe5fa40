#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// All devices: shares are counted in parts per million.
inline constexpr std::int64_t whole_share = 1'000'000;
/// The largest number of a plan, which has no more than 11 digits: with it, all that is computed of
/// plans stays below 2^63, on devices as well.
inline constexpr std::int64_t largest_number = 99'999'999'999;
/// Devices read no larger plan.
inline constexpr std::uint64_t largest_plan = 1ULL << 20U;

/// How devices get a commit: before `start` (Unix time) nobody; then `share`, growing linearly to
/// all of them after `duration` seconds, or staying as it is if that is 0.
struct RolloutWave {
    std::int64_t start = 0;
    std::int64_t share = 0;
    std::int64_t duration = 0;
    bool operator==(const RolloutWave&) const = default;
};

/// A wave that was stopped: what it was, when it was stopped (Unix time), and why.
struct PausedWave {
    RolloutWave wave;
    std::int64_t at = 0;
    std::string reason;
    bool operator==(const PausedWave&) const = default;
};

/// What decides whether a device may go from one commit to another. Texts are empty if that is not
/// known, or not so.
struct ReleaseFacts {
    /// of the commit, Unix time
    std::int64_t time = 0;
    std::string architecture;
    /// minor version of MicroShift, "4.18"
    std::string microshift;
    /// version of the NVIDIA driver
    std::string driver;
    bool operator==(const ReleaseFacts&) const = default;
};

/// A commit of the ref that devices may run, or get.
struct PlannedRelease {
    std::string commit;
    std::int64_t index = 0;
    /// printable ASCII, as all texts of a plan
    std::string version;
    ReleaseFacts facts;
    std::optional<RolloutWave> wave;
    std::optional<PausedWave> paused;
    /// why it is rolled out, or empty
    std::string reason;
    /// older releases get to later ones through this one only: why
    std::optional<std::string> barrier;
    /// nobody gets it any more: why
    std::optional<std::string> aborted;
    bool operator==(const PlannedRelease&) const = default;
};

/// GPUs that are not driven after a jump.
struct LostGpus {
    /// PCI device ids of vendor 10de: "1db4"
    std::vector<std::string> ids;
    std::string reason;
    bool operator==(const LostGpus&) const = default;
};

/// A device that runs `from` may go to `to` (checksums), unless it has one of these GPUs.
struct PlanEdge {
    std::string from;
    std::string to;
    std::vector<LostGpus> lost;
    bool operator==(const PlanEdge&) const = default;
};

/// There is no such edge: why.
struct BarredJump {
    std::string from;
    std::string to;
    std::string reason;
    bool operator==(const BarredJump&) const = default;
};

/// The update graph of a ref.
struct RolloutPlan {
    std::string ref;
    /// each plan has a later one than the plan before; Unix time
    std::int64_t serial = 0;
    /// devices take nothing new after it; Unix time
    std::int64_t expires = 0;
    /// indices rise
    std::vector<PlannedRelease> releases;
    std::vector<PlanEdge> edges;
    std::vector<BarredJump> barred;
    bool operator==(const RolloutPlan&) const = default;

    /// The release with this checksum; nullptr if there is none.
    [[nodiscard]] const PlannedRelease* find(std::string_view commit) const;
    [[nodiscard]] PlannedRelease* find(std::string_view commit);
};

/// What the ref of a plan begins with; the ref that it is for follows.
inline constexpr std::string_view plan_prefix = "edgegpu-rollout/";
/// The ref of the plan for a ref.
[[nodiscard]] std::string plan_ref(std::string_view ref);
/// Whether a ref is one of a plan. `ref` may begin with the name of a remote and a colon.
[[nodiscard]] bool is_plan_ref(std::string_view ref);

/// The file /plan: docs/rollouts.md. Texts get what a plan may have (plain_text).
[[nodiscard]] std::string plan_text(const RolloutPlan& plan);

/// The plan in such a text, without what only graph.json has; `shown` is its name. Throws Error for
/// anything that is no plan: a device that understood half of it would do what nobody wanted.
[[nodiscard]] RolloutPlan parse_plan(std::string_view text, const std::string& shown);

/// `text` as a plan may have it: what is not printable ASCII becomes "?"; at most 500 characters.
[[nodiscard]] std::string plain_text(std::string_view text);

/// "5 %"
[[nodiscard]] std::string percent_text(std::int64_t share);
/// "9.4.2 (0123456789)"
[[nodiscard]] std::string release_text(const PlannedRelease& release);

}  // namespace edgegpu
