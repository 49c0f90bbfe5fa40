#include "rollout/health.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rollout/turns.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t an_hour = 3600;
/// A device that starts an image, or waits for its checks, for longer is not coming back by itself:
/// greenboot goes back after some minutes.
constexpr std::int64_t patience = 2 * an_hour;
/// Clocks of devices are not exact.
constexpr std::int64_t clock_error = an_hour;
constexpr std::int64_t many_failures = 3;

/// The newest report of a device, and the newest with another commit than that of the rollout.
struct Known {
    const DeviceReport* newest = nullptr;
    const DeviceReport* before = nullptr;
};

void remember(const DeviceReport*& known, const DeviceReport& report) {
    // Of two of the same second the later one in the file.
    if (known == nullptr || report.time >= known->time) {
        known = &report;
    }
}

bool is_degraded(const std::string& system) {
    constexpr std::array<std::string_view, 4> names{"degraded", "maintenance", "emergency",
                                                    "rescue"};
    return std::ranges::find(names, system) != names.end();
}

/// "hardware (xid-79)"
std::string finding_text(const GpuFinding& finding) {
    return finding.fault.empty() ? finding.verdict
                                 : fmt::format("{} ({})", finding.verdict, finding.fault);
}

/// What the device or its place is to blame for, with any image.
bool is_devices_own(const GpuFinding& finding) {
    return finding.verdict == "hardware" || finding.verdict == "machine";
}

/// Whether gpu-health blames the commit, and did not find the same with the one before.
bool blames_image(const GpuFinding& finding, const DeviceReport* before) {
    return finding.verdict == "image" &&
           (before == nullptr || before->gpu_health.verdict != "image" ||
            before->gpu_health.fault != finding.fault);
}

/// Where a device is with a commit.
struct Progress {
    bool tried = false;
    bool pending = false;
    /// empty: it has not failed
    std::string failure;
};

Progress failed(std::string reason) {
    return {true, false, std::move(reason)};
}

Progress progress_of(const Known& known, const std::string& commit, std::int64_t now) {
    const DeviceReport& report = *known.newest;
    const bool late = now - report.time > patience;
    if (report.refused == commit) {
        return failed("it went back to the version before");
    }
    if (report.commit != commit) {
        if (report.available != commit || report.state != "restarting") {
            return {};
        }
        return late ? failed("it restarted into it, and has not reported since")
                    : Progress{false, true, ""};
    }
    if (report.state == "checking") {
        return late ? failed("its health checks have not passed") : Progress{false, true, ""};
    }
    const DeviceReport* before = known.before;
    if (blames_image(report.gpu_health, before)) {
        return failed("gpu-health says: " + finding_text(report.gpu_health));
    }
    // A card that died takes its services with it.
    const bool own_fault = is_devices_own(report.gpu_health);
    if (is_degraded(report.system) && !(own_fault && report.system == "degraded") &&
        (before == nullptr || !is_degraded(before->system))) {
        return failed("its system is " + report.system);
    }
    if (before != nullptr && report.gpus < before->gpus && !own_fault) {
        return failed(fmt::format("it has {} GPUs, and had {}", report.gpus, before->gpus));
    }
    if (report.state == "failed" && report.failures >= many_failures) {
        return failed(fmt::format("it has failed to look for updates {} times", report.failures));
    }
    return {true, false, ""};
}

}  // namespace

FleetHealth judge_health(const RolloutPlan& plan, const DeviceReports& reports, std::int64_t now) {
    FleetHealth health;
    health.ignored = reports.unreadable;
    const PlannedRelease* target = newest_wave(plan);
    const std::string commit = target == nullptr ? std::string() : target->commit;
    std::map<std::string, Known> devices;
    for (const DeviceReport& report : reports.reports) {
        if (report.ref != plan.ref || report.time > now + clock_error) {
            ++health.ignored;
            continue;
        }
        Known& known = devices[report.id];
        remember(known.newest, report);
        if (report.commit != commit) {
            remember(known.before, report);
        }
    }
    health.devices = devices.size();
    for (const auto& [id, known] : devices) {
        ++health.running[known.newest->commit];
        if (target == nullptr) {
            continue;
        }
        const std::int64_t position = position_of(id, commit);
        const bool had = position < share_at(*target->wave, now);
        health.had_turn += had ? 1 : 0;
        health.next_hour += !had && position < share_at(*target->wave, now + an_hour) ? 1 : 0;
        const Progress progress = progress_of(known, commit, now);
        health.tried += progress.tried ? 1 : 0;
        health.pending += progress.pending ? 1 : 0;
        if (!progress.failure.empty()) {
            health.failed.push_back({id, progress.failure});
        }
        const GpuFinding& gpu = known.newest->gpu_health;
        if (known.newest->commit == commit && !gpu.verdict.empty() && gpu.verdict != "healthy" &&
            !blames_image(gpu, known.before)) {
            health.gpu_faults.push_back({id, finding_text(gpu)});
        }
        if (!known.newest->group.empty()) {
            health.unavailable[known.newest->group] +=
                progress.pending || !progress.failure.empty() ? 1 : 0;
        }
    }
    return health;
}

std::optional<std::string> reason_to_stop(const FleetHealth& health, const HealthLimits& limits) {
    const auto failures = static_cast<std::int64_t>(health.failed.size());
    const auto tried = static_cast<std::int64_t>(health.tried);
    if (limits.failures && health.tried >= limits.least_tried && failures > 0 &&
        failures * whole_share > *limits.failures * tried) {
        return fmt::format("{} of {} devices that have tried it failed", failures, tried);
    }
    for (const auto& [group, count] : health.unavailable) {
        if (limits.unavailable && count > *limits.unavailable) {
            return fmt::format("{} devices of group {} have failed, or are not back yet", count,
                               plain_text(group));
        }
    }
    return std::nullopt;
}

}  // namespace edgegpu
