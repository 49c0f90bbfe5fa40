#include "gpu/mig_layout.hpp"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace edgegpu {

namespace {

constexpr std::string_view media = "+me";
constexpr std::size_t most_slices = 8;
using Slices = std::bitset<most_slices>;

/// Where instances of a profile can be.
struct MigSites {
    std::vector<unsigned> starts;
    unsigned size = 0;
};

unsigned compute_slices_of(const MigSupport& gpu) {
    unsigned most = 0;
    for (const MigCapacity& each : gpu.profiles) {
        most = std::max(most, each.profile.slices);
    }
    return most;
}

/// `instances`: how many a GPU with seven compute slices holds. Two profiles have one of them: they
/// differ in memory.
MigSites sites_of_seven(unsigned slices, unsigned instances) {
    switch (slices) {
        case 1:
            return instances > 4 ? MigSites{{0, 1, 2, 3, 4, 5, 6}, 1} : MigSites{{0, 2, 4, 6}, 2};
        case 2:
            return {{0, 2, 4}, 2};
        case 3:
            return {{0, 4}, 4};
        case 4:
            return {{0}, 4};
        default:
            return {{0}, 8};
    }
}

MigSites sites_of_four(unsigned slices) {
    switch (slices) {
        case 1:
            return {{0, 1, 2, 3}, 1};
        case 2:
            return {{0, 2}, 2};
        default:
            return {{0}, 4};
    }
}

/// Memory slices of a compute slice of a GPU with four: the RTX PRO 6000 has twelve memory slices.
unsigned slices_per_quarter(const MigSupport& gpu) {
    constexpr unsigned gigabytes_of_a30 = 24;
    const MigProfile& largest = gpu.profiles.back().profile;
    return largest.slices == 4 && largest.gigabytes > gigabytes_of_a30 ? 3 : 1;
}

/// An instance that needs a place.
struct Wanted {
    MigSites sites;
    unsigned slices = 0;
    bool media = false;
    /// into `profiles`
    std::size_t index = 0;
};

std::optional<std::vector<Wanted>> wanted_of(const MigSupport& gpu,
                                             const std::vector<std::string>& profiles) {
    const unsigned total = compute_slices_of(gpu);
    std::vector<Wanted> all;
    for (const std::string& name : profiles) {
        const std::optional<MigProfile> profile = mig_instance_profile(name);
        const unsigned instances = profile ? gpu.instances_of(*profile) : 0;
        if (instances == 0) {
            return std::nullopt;
        }
        all.push_back({total == 7 ? sites_of_seven(profile->slices, instances)
                                  : sites_of_four(profile->slices),
                       profile->slices, name.ends_with(media), all.size()});
    }
    return all;
}

/// Places `wanted` from `next` on, each at the first site from which the others find theirs.
// NOLINTNEXTLINE(misc-no-recursion): as deep as a GPU has slices
bool place_from(const std::vector<Wanted>& wanted, std::size_t next, Slices used,
                std::vector<unsigned>& starts) {
    if (next == wanted.size()) {
        return true;
    }
    const MigSites& sites = wanted[next].sites;
    return std::ranges::any_of(sites.starts, [&](unsigned start) {
        const Slices place = (Slices(~0ULL) >> (most_slices - sites.size)) << start;
        starts[wanted[next].index] = start;
        return (used & place).none() && place_from(wanted, next + 1, used | place, starts);
    });
}

std::string text_of_list(const std::vector<std::string>& names) {
    return names.size() < 2
               ? fmt::format("{}", fmt::join(names, ""))
               : fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "),
                             names.back());
}

}  // namespace

std::optional<MigProfile> mig_instance_profile(std::string_view name) {
    const std::optional<MigProfile> profile = mig_profile(name);
    if (!profile) {
        return std::nullopt;
    }
    const std::string plain = profile->text();
    return name == plain || name == plain + std::string(media) ? profile : std::nullopt;
}

std::optional<std::vector<MigPlacement>> place_mig(const MigSupport& gpu,
                                                   const std::vector<std::string>& profiles) {
    std::optional<std::vector<Wanted>> wanted = wanted_of(gpu, profiles);
    if (!wanted) {
        return std::nullopt;
    }
    const unsigned slices =
        std::accumulate(wanted->begin(), wanted->end(), 0U,
                        [](unsigned sum, const Wanted& each) { return sum + each.slices; });
    if (gpu.profiles.empty() || slices > compute_slices_of(gpu) ||
        std::ranges::count(*wanted, true, &Wanted::media) > 1) {
        return std::nullopt;
    }
    // Large ones first: they have the fewest sites.
    std::ranges::stable_sort(*wanted, std::greater<>{},
                             [](const Wanted& each) { return each.sites.size; });
    std::vector<unsigned> starts(profiles.size());
    if (!place_from(*wanted, 0, {}, starts)) {
        return std::nullopt;
    }
    const unsigned scale = slices_per_quarter(gpu);
    std::vector<MigPlacement> placed(profiles.size());
    for (const Wanted& each : *wanted) {
        placed[each.index] = {profiles[each.index], starts[each.index] * scale,
                              each.sites.size * scale};
    }
    return placed;
}

std::string text_of_fitting(const MigSupport& gpu, const std::vector<std::string>& profiles) {
    std::vector<std::string> fitting = profiles;
    while (!fitting.empty() && !place_mig(gpu, fitting)) {
        fitting.pop_back();
    }
    std::vector<std::string> beside;
    for (const MigCapacity& each : gpu.profiles) {
        std::vector<std::string> more = fitting;
        more.push_back(each.profile.text());
        if (place_mig(gpu, more)) {
            beside.push_back(each.profile.text());
        }
    }
    if (fitting.empty()) {
        return fmt::format("it has {}", text_of_list(beside));
    }
    const bool one = fitting.size() == 1;
    const std::string more = fmt::format("one of {}", fmt::join(beside, ", "));
    return fmt::format("{} {}, and beside {} {}", text_of_list(fitting), one ? "fits" : "fit",
                       one ? "it" : "them", beside.empty() ? "nothing more" : more);
}

}  // namespace edgegpu
