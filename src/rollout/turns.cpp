#include "rollout/turns.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

/// The first edge of these that is not barred for the device's GPUs has no reason.
std::optional<std::string> bar_of(const PlanEdge& edge, const DeviceState& device) {
    for (const LostGpus& lost : edge.lost) {
        for (const std::string& gpu : device.gpus) {
            if (std::ranges::find(lost.ids, gpu) != lost.ids.end()) {
                return fmt::format("GPU 10de:{}: {}", gpu, lost.reason);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::int64_t position_of(std::string_view device, std::string_view commit) {
    constexpr std::size_t digits = 7;
    constexpr std::int64_t places = 1LL << 28U;
    const std::string digest = sha256_hex(fmt::format("{} {}", device, commit));
    std::int64_t number = 0;
    std::from_chars(digest.data(), digest.data() + digits, number, 16);
    return number * whole_share / places;
}

std::int64_t share_at(const RolloutWave& wave, std::int64_t time) {
    if (time < wave.start) {
        return 0;
    }
    if (wave.duration == 0) {
        return wave.share;
    }
    if (time - wave.start >= wave.duration) {
        return whole_share;
    }
    return wave.share + (whole_share - wave.share) * (time - wave.start) / wave.duration;
}

std::optional<std::int64_t> turn_of(const RolloutWave& wave, std::int64_t position) {
    if (position < wave.share) {
        return wave.start;
    }
    if (wave.duration == 0) {
        return std::nullopt;
    }
    // The first time at which the share is above the position: rounded up, as share_at rounds down.
    const std::int64_t rest = whole_share - wave.share;
    const std::int64_t more = position + 1 - wave.share;
    return wave.start + (more * wave.duration + rest - 1) / rest;
}

std::int64_t devices_at(const RolloutWave& wave, std::int64_t time, std::int64_t devices) {
    return share_at(wave, time) * devices / whole_share;
}

bool is_complete(const RolloutWave& wave, std::int64_t time) {
    return share_at(wave, time) == whole_share;
}

const PlannedRelease* newest_wave(const RolloutPlan& plan) {
    const PlannedRelease* newest = nullptr;
    for (const PlannedRelease& release : plan.releases) {
        newest = release.wave ? &release : newest;
    }
    return newest;
}

DeviceDecision decide(const RolloutPlan& plan, const DeviceState& device, std::int64_t time) {
    DeviceDecision decision;
    if (time > plan.expires) {
        decision.choice = DeviceChoice::expired;
        return decision;
    }
    if (plan.find(device.commit) == nullptr) {
        decision.choice = DeviceChoice::unknown;
        return decision;
    }
    std::int64_t best = -1;
    bool free = false;
    for (const PlanEdge& edge : plan.edges) {
        if (edge.from != device.commit) {
            continue;
        }
        if (const std::optional<std::string> bar = bar_of(edge, device)) {
            decision.reason = *bar;
            continue;
        }
        free = true;
        const PlannedRelease& to = *plan.find(edge.to);
        const std::int64_t position = position_of(device.id, edge.to);
        const std::optional<std::int64_t> turn = turn_of(*to.wave, position);
        if (turn && *turn <= time && to.index > best) {
            best = to.index;
            decision.target = edge.to;
        }
        if (turn && (!decision.turn || *turn < *decision.turn)) {
            decision.turn = turn;
        }
    }
    decision.choice = !decision.target.empty()   ? DeviceChoice::target
                      : free                     ? DeviceChoice::waits
                      : !decision.reason.empty() ? DeviceChoice::barred
                                                 : DeviceChoice::no_edge;
    return decision;
}

}  // namespace edgegpu
