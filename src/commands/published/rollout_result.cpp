#include "commands/published/rollout_result.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/published/publish_result.hpp"
#include "rollout/edges.hpp"
#include "rollout/turns.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr std::int64_t hour = 3600;

std::string because(const std::string& reason) {
    return reason.empty() ? "" : ": " + reason;
}

/// "1234": with N devices.
std::string devices_text(const RolloutPlan& plan, const PlannedRelease& release,
                         const RolloutMoment& moment) {
    const RolloutWave& wave = *release.wave;
    const std::int64_t done = devices_at(wave, moment.now, moment.devices);
    const std::int64_t later =
        devices_at(wave, std::min(moment.now + hour, plan.expires), moment.devices);
    std::string text = fmt::format("{} of {} have had their turn", done, moment.devices);
    if (moment.now <= plan.expires && done < moment.devices) {
        text += fmt::format("; {} have theirs in the next hour",
                            std::max<std::int64_t>(later - done, 0));
    }
    return text;
}

std::string wave_text(const PlannedRelease& release, std::int64_t now) {
    const RolloutWave& wave = *release.wave;
    const std::string share = percent_text(share_at(wave, now));
    const std::string state = state_of(release, now);
    if (state == "paused") {
        return fmt::format("paused at {} since {}{}", share, minute_text(release.paused->at),
                           because(release.paused->reason));
    }
    if (state == "complete") {
        return "complete: all devices have had their turn";
    }
    const std::string end =
        wave.duration == 0
            ? ", and stays there"
            : fmt::format("; all of them at {}", minute_text(wave.start + wave.duration));
    return state == "planned" ? fmt::format("begins at {} with {}{}", minute_text(wave.start),
                                            percent_text(wave.share), end)
                              : fmt::format("at {}{}", share, end);
}

/// Jumps that are barred for the same reason, on one line each.
std::string barred_rows(const RolloutPlan& plan) {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> from;
    for (const BarredJump& jump : plan.barred) {
        from[{jump.to, jump.reason}].push_back(release_text(*plan.find(jump.from)));
    }
    std::string text;
    for (const auto& [key, names] : from) {
        text += result_row("barred",
                           fmt::format("{} to {}{}", fmt::join(names, ", "),
                                       release_text(*plan.find(key.first)), because(key.second)));
    }
    return text;
}

std::string lost_rows(const RolloutPlan& plan) {
    std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::vector<std::string>>>
        from;
    for (const PlanEdge& edge : plan.edges) {
        for (const LostGpus& lost : edge.lost) {
            auto& [count, names] = from[{edge.to, lost.reason}];
            count = std::max(count, lost.ids.size());
            names.push_back(release_text(*plan.find(edge.from)));
        }
    }
    std::string text;
    for (const auto& [key, found] : from) {
        text += result_row(
            "GPUs", fmt::format("{} to {} is barred for devices with one of {}{}",
                                fmt::join(found.second, ", "), release_text(*plan.find(key.first)),
                                counted(found.first, "GPU model"), because(key.second)));
    }
    return text;
}

ordered_json wave_json(const RolloutPlan& plan, const PlannedRelease& release,
                       const RolloutMoment& moment) {
    const RolloutWave& wave = *release.wave;
    const std::int64_t later = std::min(moment.now + hour, plan.expires);
    ordered_json document{{"state", state_of(release, moment.now)},
                          {"start", iso_time(wave.start)},
                          {"share", wave.share},
                          {"duration_s", wave.duration},
                          {"share_now", share_at(wave, moment.now)},
                          {"devices_now", devices_at(wave, moment.now, moment.devices)},
                          {"devices_next_hour",
                           std::max<std::int64_t>(devices_at(wave, later, moment.devices) -
                                                      devices_at(wave, moment.now, moment.devices),
                                                  0)}};
    if (!release.paused && wave.duration != 0) {
        document["end"] = iso_time(wave.start + wave.duration);
    }
    return document;
}

ordered_json release_json(const RolloutPlan& plan, const PlannedRelease& release,
                          const RolloutMoment& moment) {
    ordered_json document{{"commit", release.commit}, {"index", release.index}};
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) {
            document[key] = value;
        }
    };
    add("version", release.version);
    document["time"] = iso_time(release.facts.time);
    add("architecture", release.facts.architecture);
    add("microshift", release.facts.microshift);
    add("driver", release.facts.driver);
    add("reason", release.reason);
    if (release.barrier) {
        document["barrier"] = *release.barrier;
    }
    if (release.aborted) {
        document["aborted"] = *release.aborted;
    }
    if (release.paused) {
        document["paused"] = {{"at", iso_time(release.paused->at)},
                              {"reason", release.paused->reason}};
    }
    if (release.wave) {
        document["wave"] = wave_json(plan, release, moment);
    }
    return document;
}

/// A row for each of the first devices.
std::string device_rows(const std::string& name, const std::vector<FailedDevice>& devices) {
    constexpr std::size_t most_shown = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(devices.size(), most_shown); ++i) {
        text += result_row(name, devices[i].id + ": " + devices[i].reason);
    }
    if (devices.size() > most_shown) {
        text += result_row(
            name, fmt::format("and {} more, which --json shows", devices.size() - most_shown));
    }
    return text;
}

ordered_json devices_json(const std::vector<FailedDevice>& devices) {
    return mapped(devices, [](const FailedDevice& device) -> ordered_json {
        return {{"id", device.id}, {"reason", device.reason}};
    });
}

}  // namespace

const char* state_of(const PlannedRelease& release, std::int64_t now) {
    return release.paused                    ? "paused"
           : now < release.wave->start       ? "planned"
           : is_complete(*release.wave, now) ? "complete"
                                             : "running";
}

std::string rollout_text(const RolloutPlan& plan, const RolloutMoment& moment) {
    std::string text = "\n" + result_row("ref", plan.ref);
    const PlannedRelease* newest = newest_wave(plan);
    if (newest == nullptr) {
        text += result_row("rollout", "none: devices stay as they are");
    } else {
        text += result_row("rollout", release_text(*newest) + because(newest->reason));
        text += result_row("state", wave_text(*newest, moment.now));
        text += result_row("devices", devices_text(plan, *newest, moment));
    }
    for (const PlannedRelease& release : plan.releases) {
        if (release.wave && &release != newest) {
            text += result_row("before it", fmt::format("{}, {}", release_text(release),
                                                        wave_text(release, moment.now)));
        }
        if (release.barrier) {
            text += result_row("barrier", release_text(release) + because(*release.barrier));
        }
        if (release.aborted) {
            text += result_row("aborted", release_text(release) + because(*release.aborted));
        }
    }
    text += barred_rows(plan) + lost_rows(plan);
    for (const PlannedRelease* release : stranded(plan)) {
        text += result_row("no way", fmt::format("leads on from {}", release_text(*release)));
    }
    text += result_row("plan", fmt::format("{} of {}", plan.serial, minute_text(plan.serial)));
    const bool expired = moment.now > plan.expires;
    return text + result_row("expires", expired ? fmt::format("it did at {}: devices take nothing "
                                                              "new; edgegpu rollout renew",
                                                              minute_text(plan.expires))
                                                : minute_text(plan.expires));
}

ordered_json rollout_json(const RolloutPlan& plan, const RolloutMoment& moment) {
    ordered_json releases = mapped(plan.releases, [&](const PlannedRelease& release) {
        return release_json(plan, release, moment);
    });
    ordered_json edges = ordered_json::array();
    for (const PlanEdge& edge : plan.edges) {
        ordered_json one{{"from", edge.from}, {"to", edge.to}};
        for (const LostGpus& lost : edge.lost) {
            one["barred_for"].push_back({{"gpus", lost.ids}, {"reason", lost.reason}});
        }
        edges.push_back(std::move(one));
    }
    ordered_json barred = mapped(plan.barred, [](const BarredJump& jump) -> ordered_json {
        return {{"from", jump.from}, {"to", jump.to}, {"reason", jump.reason}};
    });
    return {{"serial", plan.serial},
            {"expires", iso_time(plan.expires)},
            {"expired", moment.now > plan.expires},
            {"releases", std::move(releases)},
            {"edges", std::move(edges)},
            {"barred", std::move(barred)}};
}

std::string fleet_text(const RolloutPlan& plan, const FleetHealth& health) {
    std::string text = result_row(
        "reports",
        fmt::format("of {}; {} had their turn, {} have theirs in the next hour{}",
                    counted(health.devices, "device"), health.had_turn, health.next_hour,
                    health.ignored == 0 ? ""
                                        : fmt::format("; {} are ignored",
                                                      counted(health.ignored, "other report"))));
    for (const auto& [commit, count] : health.running) {
        const PlannedRelease* release = plan.find(commit);
        text +=
            result_row("running", fmt::format("{}: {}",
                                              release == nullptr ? commit + ", which is not in the "
                                                                            "plan"
                                                                 : release_text(*release),
                                              counted(count, "device")));
    }
    text += result_row("tried it",
                       fmt::format("{}: {} failed; {} on the way", counted(health.tried, "device"),
                                   health.failed.size(), health.pending));
    return text + device_rows("failed", health.failed) +
           device_rows("GPU fault", health.gpu_faults);
}

ordered_json fleet_json(const RolloutPlan& plan, const FleetHealth& health) {
    ordered_json running = ordered_json::array();
    for (const auto& [commit, count] : health.running) {
        ordered_json one{{"commit", commit}, {"devices", count}};
        if (const PlannedRelease* release = plan.find(commit);
            release != nullptr && !release->version.empty()) {
            one["version"] = release->version;
        }
        running.push_back(std::move(one));
    }
    ordered_json groups = ordered_json::array();
    for (const auto& [group, count] : health.unavailable) {
        groups.push_back({{"group", group}, {"unavailable", count}});
    }
    return {{"devices", health.devices},
            {"ignored_reports", health.ignored},
            {"had_turn", health.had_turn},
            {"next_hour", health.next_hour},
            {"running", std::move(running)},
            {"tried", health.tried},
            {"pending", health.pending},
            {"failed", devices_json(health.failed)},
            {"gpu_faults", devices_json(health.gpu_faults)},
            {"groups", std::move(groups)}};
}

}  // namespace edgegpu
