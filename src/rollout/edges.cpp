#include "rollout/edges.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "gpu/gpus.hpp"
#include "microshift/upgrade.hpp"
#include "microshift/version.hpp"
#include "rollout/turns.hpp"

namespace edgegpu {

namespace {

/// The branch of a driver, 550 of "550.54.15"; 0 if that is not known.
unsigned branch_of(const std::string& driver) {
    unsigned branch = 0;
    std::from_chars(driver.data(), driver.data() + driver.size(), branch);
    return branch;
}

bool drives(unsigned branch, const Gpu& gpu) {
    return branch >= gpu.first_branch && (gpu.last_branch == 0 || branch <= gpu.last_branch);
}

std::string name_of_release(const PlannedRelease& release) {
    return release.version.empty() ? release.commit.substr(0, 10) : release.version;
}

/// Why no device may go from one release to another; nothing if some may.
std::optional<std::string> bar_of_jump(const PlannedRelease& from, const PlannedRelease& to) {
    const ReleaseFacts& before = from.facts;
    const ReleaseFacts& after = to.facts;
    if (to.aborted) {
        return to.aborted->empty() ? "the rollout was aborted"
                                   : "the rollout was aborted: " + *to.aborted;
    }
    if (to.index < from.index) {
        return "is older than what runs, and devices refuse it as a downgrade";
    }
    if (!before.architecture.empty() && !after.architecture.empty() &&
        before.architecture != after.architecture) {
        return fmt::format("is for {}, not for {}", after.architecture, before.architecture);
    }
    const std::optional<MicroshiftVersion> old = microshift_version(before.microshift);
    const std::optional<MicroshiftVersion> now = microshift_version(after.microshift);
    if (old && now) {
        if (std::optional<std::string> refusal = microshift_refusal(*old, *now)) {
            return refusal;
        }
    }
    if (!before.driver.empty() && after.driver.empty()) {
        return fmt::format("has no NVIDIA driver; {} has {}", name_of_release(from), before.driver);
    }
    return std::nullopt;
}

/// By pairs of branches, as most releases of a ref have the same few.
class LostByBranch {
public:
    std::vector<LostGpus> between(const ReleaseFacts& from, const ReleaseFacts& to) {
        const unsigned before = branch_of(from.driver);
        const unsigned after = branch_of(to.driver);
        if (before == 0 || after == 0 || before == after) {
            return {};
        }
        const auto [place, is_new] = ids_.try_emplace({before, after});
        if (is_new) {
            for (const Gpu& gpu : table_.gpus) {
                if (drives(before, gpu) && !drives(after, gpu)) {
                    place->second.push_back(fmt::format("{:04x}", gpu.device));
                }
            }
        }
        if (place->second.empty()) {
            return {};
        }
        return {{place->second,
                 fmt::format("driver {} does not drive it, as {} does", to.driver, from.driver)}};
    }

private:
    GpuTable table_ = shipped_gpus();
    std::map<std::pair<unsigned, unsigned>, std::vector<std::string>> ids_;
};

/// The index of the last barrier before a release; the lowest if there is none.
std::int64_t barrier_before(const RolloutPlan& plan, const PlannedRelease& release) {
    std::int64_t index = 0;
    for (const PlannedRelease& other : plan.releases) {
        if (other.barrier && other.wave && other.index < release.index) {
            index = other.index;
        }
    }
    return index;
}

}  // namespace

void connect(RolloutPlan& plan) {
    plan.edges.clear();
    plan.barred.clear();
    LostByBranch lost;
    const PlannedRelease* newest = newest_wave(plan);
    for (const PlannedRelease& to : plan.releases) {
        if (!to.wave && !to.aborted) {
            continue;
        }
        const std::int64_t first = barrier_before(plan, to);
        for (const PlannedRelease& from : plan.releases) {
            if (from.index < first || from.index == to.index ||
                (from.index > to.index && &to != newest)) {
                continue;
            }
            if (std::optional<std::string> bar = bar_of_jump(from, to)) {
                plan.barred.push_back({from.commit, to.commit, std::move(*bar)});
            } else {
                plan.edges.push_back({from.commit, to.commit, lost.between(from.facts, to.facts)});
            }
        }
    }
}

std::vector<const PlannedRelease*> stranded(const RolloutPlan& plan) {
    std::vector<const PlannedRelease*> left;
    const PlannedRelease* newest = newest_wave(plan);
    for (const PlannedRelease& release : plan.releases) {
        if (newest != nullptr && release.index < newest->index &&
            std::ranges::find(plan.edges, release.commit, &PlanEdge::from) == plan.edges.end()) {
            left.push_back(&release);
        }
    }
    return left;
}

}  // namespace edgegpu
