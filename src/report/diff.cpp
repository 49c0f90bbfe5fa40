#include "report/diff.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace edgegpu {

namespace {

/// What `list` has that `others` does not, as often as it has it more.
std::vector<std::string> beyond(const std::vector<std::string>& list,
                                std::vector<std::string> others) {
    std::vector<std::string> rest;
    for (const std::string& item : list) {
        const auto found = std::ranges::find(others, item);
        if (found == others.end()) {
            rest.push_back(item);
        } else {
            others.erase(found);
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

}  // namespace

Diff diff_commits(const Context& ctx, const CommitView& before, const CommitView& after) {
    const CommitPair pair{ctx, before, after};
    Diff diff;
    diff.before = before.info();
    diff.after = after.info();
    compare_metadata(diff);
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
