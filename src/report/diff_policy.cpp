#include "report/diff_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/generated_attributes.hpp"
#include "selinux/policy/policydb.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_selinux_config = 1U << 20U;
constexpr std::uint64_t largest_contexts = 64U << 20U;

/// The value of a key in /etc/selinux/config, or empty.
std::string setting(const CommitView& commit, const std::string& key) {
    const std::string text =
        commit.read("/usr/etc/selinux/config", largest_selinux_config).value_or("");
    for (const std::string& line : compare_lines("", text).gained) {
        if (line.starts_with(key + '=')) {
            return line.substr(key.size() + 1);
        }
    }
    return {};
}

/// The policy's directory; empty if the image has no policy.
std::string policy_directory(const std::string& type) {
    const bool plain = !type.empty() && type.front() != '.' && type.find('/') == std::string::npos;
    return plain ? "/usr/etc/selinux/" + type : "";
}

/// The path of the "policy.NN" with the highest number, which systemd loads, or empty.
std::string binary_policy(const CommitView& commit, const std::string& directory) {
    const std::string place = directory + "/policy";
    const std::optional<CommitNode> node = commit.find(place);
    if (directory.empty() || !node || !node->directory) {
        return {};
    }
    std::vector<std::string> names;
    for (const auto& [name, file] : commit.list(*node, place)) {
        if (!file.directory) {
            names.push_back(name);
        }
    }
    const std::string newest = selinux::newest_policy(names);
    return newest.empty() ? "" : place + '/' + newest;
}

selinux::PolicyDb load_policy(const Context& ctx, const CommitView& commit,
                              const std::string& path) {
    try {
        return {ctx, commit.read(path, selinux::policy_limit).value_or(""), path};
    } catch (const Error& failure) {
        ctx.check_cancelled();
        throw Error(fmt::format("commit {}: {} is not a binary policy that can be read",
                                commit.info().checksum, path))
            .hinted(failure.hint());
    }
}

std::vector<BooleanChange> compare_booleans(const std::map<std::string, bool>& before,
                                            const std::map<std::string, bool>& after) {
    std::map<std::string, BooleanChange> all;
    for (const auto& [name, value] : before) {
        all[name].before = value;
    }
    for (const auto& [name, value] : after) {
        all[name].after = value;
    }
    std::vector<BooleanChange> changes;
    for (auto& [name, change] : all) {
        if (change.before != change.after) {
            change.name = name;
            changes.push_back(std::move(change));
        }
    }
    return changes;
}

void compare_binaries(const CommitPair& pair, const TreeChanges& changes, PolicyChanges& policy,
                      std::vector<Unknown>& unknown) {
    const std::string before = binary_policy(pair.before, policy_directory(policy.type_before));
    const std::string after = binary_policy(pair.after, policy_directory(policy.type_after));
    if (before == after && (before.empty() || !changes.contains(before))) {
        return;
    }
    if (before.empty() || after.empty()) {
        unknown.push_back(
            {"SELinux rules",
             fmt::format("commit {} has no policy",
                         (before.empty() ? pair.before : pair.after).info().checksum)});
        return;
    }
    const selinux::PolicyDb old_policy = load_policy(pair.ctx, pair.before, before);
    pair.ctx.check_cancelled();
    const selinux::PolicyDb new_policy = load_policy(pair.ctx, pair.after, after);
    pair.ctx.check_cancelled();
    policy.booleans = compare_booleans(old_policy.booleans(), new_policy.booleans());
    policy.types = compare_names(old_policy.types(), new_policy.types());
    compare_rules(old_policy.rule_lines(), rule_lines_named_as(old_policy, new_policy), policy);
}

/// "added", "removed" or "changed", for a path of the store that differs.
const char* store_change(const CommitPair& pair, const std::string& path) {
    const bool before = pair.before.find(path).has_value();
    return before && pair.after.find(path).has_value() ? "changed" : before ? "removed" : "added";
}

/// Modules are in active/modules/PRIORITY/NAME/{cil,hll,lang_ext}; active/modules/disabled has a
/// file with the name of each disabled module.
std::vector<ModuleChange> compare_modules(const CommitPair& pair, const TreeChanges& changes,
                                          const std::string& directory) {
    std::vector<ModuleChange> modules;
    if (directory.empty()) {
        return modules;
    }
    const std::string store = directory + "/active/modules";
    std::set<std::string> seen;
    for (const auto& [path, change] : changes_below(changes, store)) {
        const std::string_view below = std::string_view(path).substr(store.size() + 1);
        const std::size_t slash = below.find('/');
        if (slash == std::string_view::npos) {
            continue;
        }
        const std::string priority(below.substr(0, slash));
        const std::string_view rest = below.substr(slash + 1);
        const std::string name(rest.substr(0, rest.find('/')));
        if (change.before && change.after && !change.content) {
            continue;
        }
        const std::string place = store + '/' + priority + '/' + name;
        if (!seen.insert(place).second) {
            continue;
        }
        const std::string_view kind = store_change(pair, place);
        if (priority == "disabled") {
            modules.push_back({name, "", kind == "removed" ? "enabled" : "disabled"});
        } else {
            modules.push_back({name, priority, std::string(kind)});
        }
    }
    std::ranges::sort(modules, {}, [](const ModuleChange& module) {
        return std::pair(module.name, module.priority);
    });
    return modules;
}

LineChanges compare_contexts(const CommitPair& pair, const TreeChanges& changes,
                             const std::string& directory) {
    LineChanges all;
    for (const auto& [path, change] : changes_below(changes, directory + "/contexts/files")) {
        // Files *.bin are compiled from the file beside them.
        if (path.ends_with(".bin") || (change.before && change.after && !change.content)) {
            continue;
        }
        const LineChanges lines =
            compare_lines(pair.before.read(path, largest_contexts).value_or(""),
                          pair.after.read(path, largest_contexts).value_or(""));
        all.gained.insert(all.gained.end(), lines.gained.begin(), lines.gained.end());
        all.lost.insert(all.lost.end(), lines.lost.begin(), lines.lost.end());
    }
    return all;
}

}  // namespace

bool PolicyChanges::empty() const {
    return type_before == type_after && mode_before == mode_after && modules.empty() &&
           booleans.empty() && permissive.empty() && types.empty() && attributes.empty() &&
           rules.empty() && labels.empty() && file_contexts.empty();
}

PolicyChanges compare_policies(const CommitPair& pair, const TreeChanges& changes,
                               std::vector<Unknown>& unknown) {
    PolicyChanges policy;
    for (const auto& [path, change] : changes) {
        if (change.before && change.after && change.before->label != change.after->label) {
            policy.labels.push_back({path, change.before->label, change.after->label});
        }
    }
    policy.type_before = setting(pair.before, "SELINUXTYPE");
    policy.type_after = setting(pair.after, "SELINUXTYPE");
    policy.mode_before = setting(pair.before, "SELINUX");
    policy.mode_after = setting(pair.after, "SELINUX");
    compare_binaries(pair, changes, policy, unknown);
    // If the type differs, only the directory of the new one is compared.
    const std::string directory = policy_directory(policy.type_after);
    policy.modules = compare_modules(pair, changes, directory);
    if (!directory.empty()) {
        policy.file_contexts = compare_contexts(pair, changes, directory);
    }
    return policy;
}

}  // namespace edgegpu
