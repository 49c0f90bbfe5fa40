#include "report/upgrade.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view kernels = "/usr/lib/modules/";
constexpr std::string_view policies = "/usr/etc/selinux/";

/// A file or link that was added or removed, or has another content.
bool has_other_content(const PathChange& change) {
    const auto leaf = [](const std::optional<CommitPath>& side) {
        return side && side->type != EntryType::directory;
    };
    return (leaf(change.before) || leaf(change.after)) &&
           (!change.before || !change.after || change.content);
}

/// "nvidia.ko", also compressed: "nvidia.ko.xz".
bool is_kernel_module(std::string_view path) {
    constexpr std::array endings{".ko", ".ko.xz", ".ko.gz", ".ko.zst", ".ko.bz2"};
    return path.starts_with(kernels) && std::ranges::any_of(endings, [&](std::string_view ending) {
               return path.ends_with(ending);
           });
}

/// "/usr/etc/selinux/targeted/policy/policy.33" for the directory "policy".
bool is_in_policy_directory(std::string_view path, std::string_view directory) {
    if (!path.starts_with(policies)) {
        return false;
    }
    const std::size_t slash = path.find('/', policies.size());
    return slash != std::string_view::npos && path.substr(slash + 1).starts_with(directory) &&
           path.substr(slash + 1 + directory.size()).starts_with('/');
}

/// What has changed, by what it is of.
struct Changed {
    bool vmlinuz = false;
    bool initramfs = false;
    bool device_tree = false;
    bool arguments = false;
    std::size_t modules = 0;
    std::size_t modules_gone = 0;
    bool policy = false;
    bool file_contexts = false;
    std::size_t others = 0;

    void note(std::string_view path, const PathChange& change) {
        const bool content = has_other_content(change);
        if (content && is_boot_file(path)) {
            const bool is_kernel = path.ends_with("/vmlinuz");
            vmlinuz |= is_kernel;
            initramfs |= path.find("/initramfs") != std::string_view::npos;
            device_tree |= !is_kernel && path.find("/initramfs") == std::string_view::npos;
        } else if (content && is_kernel_module(path)) {
            ++(change.after ? modules : modules_gone);
        } else if (content && path.starts_with("/usr/lib/bootc/kargs.d/")) {
            arguments = true;
        } else if (content && is_in_policy_directory(path, "policy")) {
            policy = true;
        } else if (content && is_in_policy_directory(path, "contexts/files")) {
            file_contexts = true;
        } else {
            ++others;
        }
    }
};

RestartClass kernel_class(const Diff& diff, const Changed& changed) {
    RestartClass result{"kernel", {}};
    const auto add = [&](bool holds, const std::string& reason) {
        if (holds) {
            result.reasons.push_back(reason);
        }
    };
    add(changed.vmlinuz, "kernel");
    add(changed.initramfs, "initramfs");
    add(changed.device_tree, "device tree");
    // With another kernel each module is gone from one directory and in another one.
    const std::size_t modules = std::max(changed.modules, changed.modules_gone);
    add(modules > 0, counted(modules, "kernel module"));
    add(changed.arguments, "kernel arguments");
    const std::string branches = driver_branches(diff.before, diff.after);
    add(!branches.empty(), "driver branch " + branches);
    return result;
}

RestartClass policy_class(const Diff& diff, const Changed& changed) {
    RestartClass result{"policy", {}};
    const auto add = [&](bool holds, const char* reason) {
        if (holds) {
            result.reasons.emplace_back(reason);
        }
    };
    add(changed.policy || diff.policy.type_before != diff.policy.type_after, "SELinux policy");
    add(diff.policy.mode_before != diff.policy.mode_after, "mode of SELinux");
    add(changed.file_contexts, "file contexts");
    return result;
}

std::vector<RestartClass> restart_classes(const Diff& diff) {
    Changed changed;
    for (const auto& [path, change] : diff.paths) {
        changed.note(path, change);
    }
    changed.arguments |= !diff.kernel_arguments.empty();
    std::vector<RestartClass> classes{
        kernel_class(diff, changed), policy_class(diff, changed), {"user space", {}}};
    if (changed.others > 0) {
        classes.back().reasons.push_back(counted(changed.others, "path"));
    }
    std::erase_if(classes, [](const RestartClass& one) { return one.reasons.empty(); });
    return classes;
}

}  // namespace

const char* advisory_kind(const CommitAdvisory& advisory) {
    constexpr std::array kinds{"other", "security", "bugfix", "enhancement", "new package"};
    return kinds.at(advisory.kind < kinds.size() ? advisory.kind : 0);
}

const char* advisory_severity(const CommitAdvisory& advisory) {
    constexpr std::array names{"none", "low", "moderate", "important", "critical"};
    return names.at(advisory.severity < names.size() ? advisory.severity : 0);
}

UpgradeCost upgrade_cost(const Diff& diff) {
    UpgradeCost cost;
    const NewContent& content = diff.new_content;
    cost.restart = restart_classes(diff);
    if (content.commit_bytes == 0) {
        return cost;
    }
    cost.download_bytes = content.stored_bytes + content.directory_bytes + content.commit_bytes;
    // The commit, and its detached metadata, which a client asks for whether or not there are any.
    cost.requests = content.objects + content.directories + 2;
    cost.free_bytes = content.disk_bytes;
    return cost;
}

}  // namespace edgegpu
