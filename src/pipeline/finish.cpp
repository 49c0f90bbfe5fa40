#include "pipeline/finish.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compose/layout.hpp"
#include "compose/snapshot_layout.hpp"
#include "customise/initramfs/initramfs.hpp"
#include "execution/parallel.hpp"
#include "image/tree_step.hpp"
#include "report/tree_changes.hpp"
#include "repository/commit_view.hpp"
#include "selinux/labels/label.hpp"
#include "selinux/labels/overlay_labels.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Policy and initramfs depend on the tree but not on each other, and each keeps one core busy:
/// they are built concurrently, and added to the tree when both are done. If one fails, the other
/// is ended.
void build_policy_and_initramfs(const Context& ctx, const Blueprint& blueprint,
                                const PackageGraph& graph, const PackageFiles& policy_root,
                                Tree& tree, ToolRoot& tools) {
    PolicyResult policy;
    Initramfs initramfs;
    run_both(
        ctx,
        [&](const Context& both) { initramfs = build_initramfs(both, blueprint, tree, tools); },
        [&](const Context& both) {
            policy = build_policy(both, blueprint, tree, graph, policy_root);
        });
    apply_policy(tree, policy);
    put_entry(tree, "/usr/lib/modules/" + tree.kernel + "/initramfs.img", initramfs.file);
    tree.initramfs_arguments = std::move(initramfs.arguments);
}

/// The device's own by their nature: accounts, which a unit adds (customise/accounts), and the
/// cache of ldconfig, which is made at boot.
constexpr std::array own_configuration{"/etc/group",  "/etc/gshadow", "/etc/ld.so.cache",
                                       "/etc/passwd", "/etc/shadow",  "/etc/subgid",
                                       "/etc/subuid"};

/// The files and links below /etc that the commit `after` has otherwise than `before`, or not.
std::vector<std::string> kept_configuration(const Context& ctx, const RepositoryView& repository,
                                            const std::string& before, const std::string& after) {
    const CommitView old = repository.commit_at(before, before);
    const CommitView now = repository.commit_at(after, after);
    std::vector<std::string> files;
    for (const auto& [path, change] : compare_trees({ctx, old, now})) {
        if (is_below(path, "/etc") && change.before &&
            change.before->type != EntryType::directory &&
            std::ranges::find(own_configuration, path) == own_configuration.end()) {
            files.push_back(path);
        }
    }
    return files;
}

}  // namespace

void finish_for_ostree(const Context& ctx, const Blueprint& blueprint, const PackageGraph& graph,
                       const PackageFiles& policy_root, Tree& tree, ToolRoot& tools,
                       Stages& stages) {
    stages.begin("policy", "building the SELinux policy and the initramfs of");
    build_policy_and_initramfs(ctx, blueprint, graph, policy_root, tree, tools);
    stages.end("policy and initramfs");

    stages.begin("label", "labelling");
    run_in_order({
        {"layout", {}, {"/"}, [&] { finish_layout(ctx, tree); }},
        {"mount points",
         {"layout"},
         {"/"},
         [&] { add_mount_points(blueprint.mount_points, tree); }},
        {"labels", {"layout", "mount points"}, {"/"}, [&] { label_tree(ctx, tree); }},
        {"label check", {"labels"}, {}, [&] { check_overlay_labels(blueprint.overlays, tree); }},
    });
    stages.end(counted(tree.entries.size(), "path") + " labelled");
}

void finish_for_snapshots(const Context& ctx, Tree& tree, Stages& stages) {
    stages.begin_quietly("layout", "arranging the files of");
    finish_snapshot_layout(ctx, tree);
    stages.end(counted(tree.entries.size(), "path"));
}

void warn_of_kept_configuration(const Context& ctx, const std::filesystem::path& repository,
                                const Parent& parent, const Commit& commit) {
    constexpr std::size_t shown = 10;
    std::vector<std::string> files;
    try {
        files =
            kept_configuration(ctx, RepositoryView(repository), parent.checksum, commit.checksum);
    } catch (const Error& failure) {
        // The commit is made, and good; objects of the one before may have been pruned.
        ctx.check_cancelled();
        ctx.console->warn(fmt::format(
            "what devices that have the version before ({}) keep of its /etc is not known: {}",
            parent.checksum, failure.message()));
        return;
    }
    if (files.empty()) {
        return;
    }
    const std::size_t count = files.size();
    files.resize(std::min(count, shown));
    ctx.console->warn(fmt::format(
        "devices that have the version before ({}) keep their own files of /etc, so that what "
        "this one changes or removes there does not reach them: {}{}; new files do, and so does "
        "what is in /usr",
        parent.checksum, fmt::join(files, ", "),
        count > shown ? fmt::format(" and {} more", count - shown) : ""));
}

}  // namespace edgegpu
