#include "pipeline.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compose/account_seeds.hpp"
#include "compose/compose.hpp"
#include "compose/layout.hpp"
#include "customise/customise.hpp"
#include "customise/modprobe_check.hpp"
#include "fetch/driver_gpus.hpp"
#include "fetch/fetch.hpp"
#include "kmods/check.hpp"
#include "kmods/kmods.hpp"
#include "pipeline_inputs.hpp"
#include "pipeline_snapshot.hpp"
#include "resolve/boot_parts.hpp"
#include "resolve/log_resolution.hpp"
#include "sandbox/user_namespace.hpp"
#include "selinux/overlay_labels.hpp"
#include "selinux/selinux.hpp"
#include "support/cache_lock.hpp"
#include "support/file.hpp"
#include "support/stage.hpp"
#include "support/terminal_text.hpp"

namespace edgegpu {

namespace {

Resolution resolve_or_read_lock(const Context& ctx, const Blueprint& blueprint,
                                const BuildOptions& options) {
    if (options.locked) {
        return resolve_locked(ctx, blueprint, read_lockfile(options.lockfile));
    }
    Resolution resolution = resolve(ctx, blueprint, {options.explain});
    if (!options.lockfile.empty()) {
        write_lockfile(options.lockfile, resolution);
    }
    return resolution;
}

void warn_of_idle_key(const Context& ctx, const Signer& signer, const Resolution& resolution) {
    if (signer.certificate() && !resolution.dkms_source) {
        ctx.console->warn(
            "[nvidia.secure_boot] signs kernel modules compiled by edgegpu: precompiled ones keep "
            "the signatures they come with");
    }
}

/// Compiles the kernel modules that no package brings, and makes them one of the packages.
void add_compiled_modules(const Context& ctx, const Blueprint& blueprint, Signer& signer,
                          Resolution& resolution, PackageFiles& packages) {
    PackageFile made = build_module_package(ctx, blueprint, resolution, signer);
    resolution.packages.push_back(made.package);
    packages.push_back(std::move(made));
}

/// The policy and the initramfs depend on the same tree and not on each other, and each keeps
/// one core busy: they are built side by side, and only then put into the tree.
void build_policy_and_initramfs(const Context& ctx, const Blueprint& blueprint,
                                const Resolution& resolution, Tree& tree) {
    auto policy = std::async(std::launch::async, [&] {
        return build_policy(ctx, blueprint, tree, resolution.policy_root);
    });
    Entry initramfs = build_initramfs(ctx, blueprint, tree);
    apply_policy(tree, policy.get());
    put_entry(tree, "/usr/lib/modules/" + tree.kernel + "/initramfs.img", initramfs);
}

/// What decides whether there is anything to do.
void record_parent(const Context& ctx, const std::optional<Parent>& parent,
                   const std::string& inputs) {
    ctx.log.info(parent && parent->inputs_digest == inputs ? "nothing changed since the parent"
                                                           : "the inputs are new",
                 {{"inputs", inputs},
                  {"parent", parent ? parent->checksum : ""},
                  {"parent_inputs", parent ? parent->inputs_digest : ""}});
}

BuildResult build_in_stages(Context& ctx, const Blueprint& given, const BuildOptions& options,
                            Signer& signer, Stages& stages) {
    allow_open_files();
    const CacheLock cache_lock(ctx, image_owner());
    // From here on nobody reads the user's own files.
    stages.begin_quietly("snapshot", "copying the files named by");
    const Blueprint blueprint = take_snapshot(ctx, given);
    stages.end("");

    stages.begin("resolve", "resolving");
    Resolution resolution = resolve_or_read_lock(ctx, blueprint, options);
    warn_of_idle_key(ctx, signer, resolution);
    require_boot_parts(blueprint, resolution);
    ctx.source_date_epoch = image_time(resolution);
    log_resolution(ctx.log, resolution);
    stages.end(describe(resolution));

    stages.begin_quietly("repository", "opening the repository for");
    const Repo repo(ctx, options.repo, blueprint.ostree.ref);
    const std::optional<Parent> parent = read_parent(repo, blueprint, signer);
    const std::string inputs = inputs_digest(
        blueprint, resolution, signer.certificate() ? signer.certificate()->der : std::string());
    const bool unchanged = parent && parent->inputs_digest == inputs;
    record_parent(ctx, parent, inputs);
    stages.end(unchanged ? "unchanged" : "");
    if (unchanged) {
        return unchanged_result(blueprint, resolution, *parent);
    }

    const ParentAccounts before = parent ? parent->accounts : ParentAccounts{};
    const ParentAccounts seeds = seed_accounts(blueprint.accounts, before);

    stages.begin("fetch", "fetching the packages of");
    PackageFiles packages = fetch_packages(ctx, blueprint, resolution);
    check_driver_gpus(ctx, blueprint, resolution, packages);
    stages.end(describe(packages));

    if (resolution.dkms_source) {
        stages.begin("kmods", "compiling the kernel modules of");
        add_compiled_modules(ctx, blueprint, signer, resolution, packages);
        stages.end(describe(packages.back()));
    }

    stages.begin("compose", "composing");
    ComposedTree composed = compose(ctx, blueprint, resolution, packages, seeds);
    Tree& tree = composed.tree;
    remove_module_leftovers(tree);
    check_kernel_modules(ctx, resolution, tree);
    stages.end(counted(tree.entries.size(), "path"));

    stages.begin("customise", "customising");
    customise(ctx, blueprint, seeds, tree);
    check_account_numbers(blueprint, before, tree);
    run_depmod(ctx, tree);
    check_module_index(resolution, tree);
    check_modprobe(ctx, blueprint, tree);
    stages.end(fmt::format("{}, {}, {}", counted(blueprint.overlays.size(), "overlay"),
                           counted(blueprint.bundles.size(), "bundle"),
                           counted(blueprint.users.size(), "user")));

    stages.begin("policy", "building the SELinux policy and the initramfs of");
    build_policy_and_initramfs(ctx, blueprint, resolution, tree);
    stages.end("policy and initramfs");

    stages.begin("label", "labelling");
    finish_layout(ctx, tree);
    label_tree(ctx, tree);
    check_overlay_labels(blueprint, tree);
    stages.end(counted(tree.entries.size(), "path") + " labelled");

    stages.begin("commit", "committing");
    Commit commit = write_commit(ctx, blueprint, resolution, tree, repo, parent, inputs, signer);
    stages.end(fmt::format("{} new objects, {}", commit.new_objects, human_size(commit.new_bytes)));
    return {resolution, std::move(commit), false};
}

}  // namespace

BuildResult build_image(Context& ctx, const Blueprint& blueprint, const BuildOptions& options,
                        Signer& signer) {
    Stages stages(ctx, blueprint.path.string());
    return stages.run([&] { return build_in_stages(ctx, blueprint, options, signer, stages); });
}

}  // namespace edgegpu
