#include "report/diff.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// The items of `list` that `others` does not have, or does not have as often.
std::vector<std::string> beyond(const std::vector<std::string>& list,
                                const std::vector<std::string>& others) {
    std::map<std::string_view, std::size_t> known;
    for (const std::string& item : others) {
        ++known[item];
    }
    std::vector<std::string> rest;
    for (const std::string& item : list) {
        const auto found = known.find(item);
        if (found == known.end() || found->second == 0) {
            rest.push_back(item);
        } else {
            --found->second;
        }
    }
    return rest;
}

void note_unknown(Diff& diff, const char* what, const char* key, bool before, bool after) {
    if (before && after) {
        return;
    }
    const CommitInfo& lacking = before ? diff.after : diff.before;
    diff.unknown.push_back(
        {what, before == after
                   ? fmt::format("neither commit has {} in its metadata", key)
                   : fmt::format("commit {} has no {} in its metadata", lacking.checksum, key)});
}

void compare_metadata(Diff& diff) {
    note_unknown(diff, "packages", "rpmostree.rpmdb.pkglist", diff.before.packages.has_value(),
                 diff.after.packages.has_value());
    if (diff.before.packages && diff.after.packages) {
        diff.packages = compare_packages(*diff.before.packages, *diff.after.packages);
    }
    note_unknown(diff, "kernel arguments", "edgegpu.kargs",
                 diff.before.kernel_arguments.has_value(), diff.after.kernel_arguments.has_value());
    if (diff.before.kernel_arguments && diff.after.kernel_arguments) {
        const std::vector<std::string>& before = *diff.before.kernel_arguments;
        const std::vector<std::string>& after = *diff.after.kernel_arguments;
        diff.kernel_arguments = {beyond(after, before), beyond(before, after), false};
        diff.kernel_arguments.reordered = diff.kernel_arguments.empty() && before != after;
    }
}

/// Whether the upgrade replaces a package of the first commit with this one; `nevra` is its text.
bool replaces(const std::vector<PackageChange>& changes, const std::set<std::string>& replaced,
              const std::string& nevra) {
    return std::ranges::any_of(changes, [&](const PackageChange& change) {
        // A downgrade fixes nothing, and a package that is new had nothing to be fixed.
        return !change.now.empty() && std::string_view(change.kind()) != "downgraded" &&
               replaced.contains(change.name) &&
               nevra == fmt::format("{}-{}.{}", change.name, change.now, change.arch);
    });
}

/// Security first, then the most severe.
bool comes_first(const CommitAdvisory& one, const CommitAdvisory& other) {
    constexpr std::uint32_t security = 1;
    return std::tuple(one.kind != security, other.severity, std::string_view(one.id)) <
           std::tuple(other.kind != security, one.severity, std::string_view(other.id));
}

void compare_advisories(Diff& diff) {
    const auto& before = diff.before.advisories;
    const auto& after = diff.after.advisories;
    note_unknown(diff, "advisories", "rpmostree.advisories", before.has_value(), after.has_value());
    if (!before || !after || !diff.before.packages) {
        return;
    }
    auto known = mapped_to<std::set<std::string>>(*before, &CommitAdvisory::id);
    const auto replaced = mapped_to<std::set<std::string>>(*diff.before.packages, &Nevra::name);
    for (const CommitAdvisory& advisory : *after) {
        if (std::ranges::any_of(advisory.packages,
                                [&](const std::string& package) {
                                    return replaces(diff.packages, replaced, package);
                                }) &&
            known.insert(advisory.id).second) {
            diff.advisories.push_back(advisory);
        }
    }
    std::ranges::sort(diff.advisories, comes_first);
}

std::vector<ImageChange> compare_images(const std::vector<CommitImage>& before,
                                        const std::vector<CommitImage>& after) {
    std::map<std::string, ImageChange> changes;
    for (const CommitImage& image : before) {
        changes[image.name].before = image;
    }
    for (const CommitImage& image : after) {
        changes[image.name].after = image;
    }
    std::vector<ImageChange> result;
    for (auto& [name, change] : changes) {
        if (change.before != change.after) {
            change.name = name;
            result.push_back(std::move(change));
        }
    }
    return result;
}

}  // namespace

Diff diff_commits(const Context& ctx, const CommitView& before, const CommitView& after) {
    const CommitPair pair{ctx, before, after};
    Diff diff;
    diff.before = before.info();
    diff.after = after.info();
    compare_metadata(diff);
    compare_advisories(diff);
    diff.gpu_stack = compare_gpu_stacks(diff.before, diff.after, diff.unknown);
    diff.images = compare_images(diff.before.images, diff.after.images);
    diff.paths = compare_trees(pair);
    diff.units = compare_units(pair, diff.paths);
    diff.accounts = compare_accounts(pair, diff.paths);
    diff.policy = compare_policies(pair, diff.paths, diff.unknown);
    diff.modprobe = compare_modprobe(pair, diff.paths);
    diff.bundles = compare_bundles(pair, diff.paths);
    diff.files = count_files(diff.paths);
    diff.new_content = new_content(pair, diff.paths);
    return diff;
}

}  // namespace edgegpu
