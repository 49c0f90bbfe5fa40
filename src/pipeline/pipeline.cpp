#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/volume_group.hpp"
#include "bundles/checks/checks.hpp"
#include "bundles/install/bundle_secrets.hpp"
#include "bundles/install/place.hpp"
#include "bundles/render.hpp"
#include "cache/cache_lock.hpp"
#include "compose/compose.hpp"
#include "customise/customise.hpp"
#include "customise/initramfs/boot_tools.hpp"
#include "customise/kernel/depmod.hpp"
#include "customise/kernel/modprobe_check.hpp"
#include "execution/stage.hpp"
#include "fetch/driver_gpus.hpp"
#include "fetch/fetch.hpp"
#include "fetch/images.hpp"
#include "fetch/remote_commit.hpp"
#include "image/account_files.hpp"
#include "image/overlay.hpp"
#include "image/tree_step.hpp"
#include "kmods/check.hpp"
#include "kmods/gpu_stack.hpp"
#include "kmods/kmods.hpp"
#include "kmods/weak_updates.hpp"
#include "microshift/config_check.hpp"
#include "parent/parent_image.hpp"
#include "pipeline/bundles.hpp"
#include "pipeline/finish.hpp"
#include "pipeline/image_mounts.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/microshift.hpp"
#include "pipeline/resolve_blueprint.hpp"
#include "pipeline/signing_key.hpp"
#include "pipeline/snapshot.hpp"
#include "repository/remote_config.hpp"
#include "resolve/solve/boot_parts.hpp"
#include "resolve/stage/log_resolution.hpp"
#include "resolve/stage/plan.hpp"
#include "rootfs/account_seeds.hpp"
#include "rootfs/tool_root.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/files/file.hpp"
#include "support/source_date.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

ResolvedBlueprint resolve_or_read_lock(const Context& ctx, const Blueprint& blueprint,
                                       const std::vector<RenderedBundle>& bundles,
                                       const BuildOptions& options) {
    ResolveTask task{{options.explain}, std::nullopt, std::nullopt};
    if (options.locked) {
        task.locked = read_lockfile(options.lockfile);
    }
    ResolvedBlueprint resolved = resolve_blueprint(ctx, blueprint, bundles, task);
    if (!options.locked && !options.lockfile.empty()) {
        write_lockfile(options.lockfile, resolved.resolution);
    }
    return resolved;
}

void warn_of_idle_key(const Context& ctx, const Signer& signer, const Resolution& resolution) {
    if (signer.certificate() && !resolution.dkms_source) {
        ctx.console->warn(
            "[nvidia.secure_boot] signs nothing: the image's kernel modules are precompiled, and "
            "signed by their vendor. Devices with Secure Boot load them if the kernel has the "
            "vendor's certificate built in or the device has enrolled it (mokutil --import); the "
            "certificate of [nvidia.secure_boot] need not be enrolled");
    }
}

void end_trial(KeyTrial& key, Stages& stages) {
    if (key.running()) {
        stages.begin_quietly("key", "trying the signing key of");
        key.end();
        stages.end("");
    }
}

/// Nothing in an image is newer; a layer is not older than its parent.
std::int64_t time_of_image(const ResolvedBlueprint& resolved) {
    const std::int64_t time = image_time(resolved.resolution);
    return resolved.parent && !source_date_epoch() ? std::max(time, resolved.parent->info().time)
                                                   : time;
}

/// The parent as `compose` takes it; nothing without one.
std::optional<ComposeBase> base_of(const Context& ctx, ParentImage* parent) {
    if (parent == nullptr) {
        return std::nullopt;
    }
    return ComposeBase{parent->info().checksum,
                       parent->read_files(ctx),
                       parent->take_packages(),
                       parent->headers(),
                       parent->info().kernel_arguments.value_or(std::vector<std::string>()),
                       parent->info().initramfs_arguments};
}

/// What is in the cache already, and what is to be fetched.
struct Preparation {
    /// Of compiled kernel modules, in the cache.
    std::string module_key;
    /// Compiled kernel modules from the cache. They are read before fetching, because the packages
    /// that compile them are then omitted from the plan.
    std::optional<CompiledModules> modules;
    Plan plan;
};

Preparation prepare(const Context& ctx, const Blueprint& blueprint, const Resolution& resolution) {
    Preparation result;
    if (resolution.dkms_source) {
        result.module_key = compiled_modules_key(ctx, blueprint.repositories, resolution);
        result.modules = find_compiled_modules(ctx, result.module_key);
    }
    result.plan = make_plan(resolution, blueprint.repositories, {result.modules.has_value()});
    return result;
}

/// The package of compiled kernel modules.
PackageFile module_package(const Context& ctx, const Resolution& resolution, Preparation prepared,
                           const FetchedPackages& packages, Signer& signer) {
    const CompiledModules modules =
        prepared.modules
            ? *std::move(prepared.modules)
            : build_modules(ctx, prepared.module_key, resolution, packages.module_build.value());
    return package_modules(ctx, resolution, modules, signer);
}

/// Logs why a new commit is or is not needed.
void record_decision(const Context& ctx, const std::optional<Parent>& parent,
                     const std::string& inputs, bool unchanged) {
    ctx.log.info(unchanged ? "nothing changed since the parent" : "the inputs are new",
                 {{"inputs", inputs},
                  {"parent", parent ? parent->checksum : ""},
                  {"parent_inputs", parent ? parent->inputs_digest : ""}});
}

/// Warns if the server from which devices pull has a newer commit of the ref than the one that is
/// being built: they would refuse it. `time` is that of the new commit.
void compare_with_remote(const Context& ctx, const Blueprint& blueprint, RemoteQuestion& question,
                         std::int64_t time) {
    const OstreeRequest& ostree = blueprint.ostree;
    try {
        const std::optional<RemoteCommit> remote = question.answer();
        if (remote && remote->time > time) {
            ctx.console->warn(fmt::format(
                "{}: {} has commit {} of ref {}, which is newer than the new commit will be: "
                "devices that have it refuse an older one; pull it into the repository (ostree "
                "pull "
                "--mirror) and build again, so that it becomes the parent",
                blueprint.path.string(), url_to_show(ostree.url), remote->checksum, ostree.ref));
        }
    } catch (const Error& failure) {
        ctx.check_cancelled();
        // Many builders cannot reach what devices can.
        ctx.log.info("the commit of the remote is unknown", {{"reason", failure.message()}});
    }
}

/// Devices need LVM for a volume group of the blueprint; the commit itself does not.
void warn_of_missing_lvm(const Context& ctx, const std::vector<Volume>& volumes, const Tree& tree) {
    const auto group = std::ranges::find(volumes, VolumeUse::group, &Volume::use);
    const auto has = [&](std::string_view program) { return tree.entries.contains(program); };
    if (group == volumes.end() || std::ranges::any_of(volume_group_programs, has)) {
        return;
    }
    ctx.console->warn(fmt::format(
        "the image has no vgcreate, which makes the {} on devices: edgegpu image will refuse it; "
        "add package \"lvm2\"",
        group->name()));
}

/// The way by which devices find updates has to outlive an update. Throws Error if it does not.
void check_remotes(const OstreeRequest& ostree, const std::optional<Parent>& parent,
                   const Tree& tree) {
    std::vector<RemoteConfig> now;
    for (const auto& [path, entry] : entries_below(tree.entries, "/etc/ostree/remotes.d")) {
        if (entry.type == EntryType::file && path.ends_with(".conf")) {
            std::ranges::move(read_remotes(read_entry(tree, path)), std::back_inserter(now));
        }
    }
    if (parent && !keeps_a_remote(parent->remotes, now)) {
        const RemoteConfig& lost = parent->remotes.front();
        throw error_at(ostree.location,
                       "the image has not the remote \"{}\" of the version before ({}): devices "
                       "that follow it would find no updates any more",
                       lost.name, parent->checksum)
            .hinted(hint_to_keep(lost));
    }
}

/// Secrets of one machine that the blueprint lets into bundles.
void warn_of_allowed(const Context& ctx, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) {
        ctx.console->warn(warning);
    }
}

BuildResult build_in_stages(const Context& given, const Blueprint& named,
                            const BuildOptions& options, Signer& signer, Stages& stages) {
    // From here on only copies of the user's files are read.
    stages.begin_quietly("snapshot", "copying the files named by");
    const Blueprint snapshot = take_snapshot(given, named);
    stages.end("");

    KeyTrial key(given, snapshot, signer);
    key.begin();

    std::vector<RenderedBundle> bundles;
    if (!snapshot.microshift.bundles.empty()) {
        stages.begin_quietly("bundles", "rendering the bundles of");
        bundles = render_bundles(given, snapshot.microshift.bundles);
        warn_of_allowed(given, check_bundle_secrets(snapshot, bundles));
        check_together(given, bundles, snapshot.microshift.manifests);
        stages.end(counted(bundles.size(), "bundle"));
    } else {
        // Without bundles, too: a secret may be allowed in one that is gone.
        warn_of_allowed(given, check_bundle_secrets(snapshot, bundles));
    }

    if (key.before_resolving()) {
        end_trial(key, stages);
    }
    stages.begin("resolve", "resolving");
    const ResolvedBlueprint resolved = resolve_or_read_lock(given, snapshot, bundles, options);
    const Blueprint& blueprint = resolved.blueprint;
    const Resolution& resolution = resolved.resolution;
    const Context ctx = given.at(time_of_image(resolved));
    warn_of_idle_key(ctx, signer, resolution);
    if (!resolved.parent) {
        require_boot_parts(blueprint.path, blueprint.distro, blueprint.package_set, resolution);
    }
    log_resolution(ctx.log, resolution);
    const ImageFacts facts = facts_of_image(blueprint, resolution);
    check_microshift_config(blueprint.microshift, microshift_of(resolution));
    check_bundles(bundles, facts);
    // The checks saw what the bundles' own files have.
    bundles = pin_resolved_images(given, blueprint.microshift, resolution, std::move(bundles));
    stages.end(describe(resolution));

    // Also if nothing has changed: a commit that devices do not verify any more is signed again.
    end_trial(key, stages);
    stages.begin_quietly("repository", "opening the repository for");
    const Repo repo(ctx, options.repo, blueprint.ostree.ref);
    const std::optional<Parent> parent = read_parent(ctx, repo, blueprint.ostree, signer);
    const std::string inputs =
        inputs_digest(blueprint, resolution, ctx.source_date_epoch,
                      signer.certificate() ? signer.certificate()->der : std::string());
    const std::optional<Commit> unchanged =
        find_unchanged(ctx, blueprint, repo, parent, inputs, signer);
    record_decision(ctx, parent, inputs, unchanged.has_value());
    stages.end(unchanged ? "unchanged" : "");
    if (unchanged) {
        return {resolution, *unchanged};
    }

    if (parent) {
        check_microshift_version(blueprint, resolution, *parent);
    }

    const ParentAccounts before = parent ? parent->accounts : ParentAccounts{};
    const ParentAccounts seeds = seed_accounts(blueprint.accounts, before);

    // From here on only `fetch` uses the network.
    RemoteQuestion remote(ctx, blueprint.ostree);
    stages.begin("fetch", "fetching the packages of");
    Preparation prepared = prepare(ctx, blueprint, resolution);
    FetchedPackages packages = fetch_packages(ctx, prepared.plan);
    check_driver_gpus(ctx, blueprint.nvidia, resolution, packages.image);
    const std::vector<StoredImage> images =
        fetch_images(ctx, resolution.images, blueprint.containers, blueprint.architecture);
    compare_with_remote(ctx, blueprint, remote, time_of_commit(ctx, repo, parent));
    stages.end(describe(packages) + describe_images(resolution.images));

    if (resolution.dkms_source) {
        stages.begin("kmods", "compiling the kernel modules of");
        packages.image.push_back(
            module_package(ctx, resolution, std::move(prepared), packages, signer));
        stages.end(describe(packages.image.back()));
    }

    stages.begin("compose", "composing");
    ComposedTree composed = compose(ctx, resolution.kernel_uname, packages.image, seeds,
                                    base_of(ctx, resolved.parent.get()));
    Tree& tree = composed.tree;
    tree.update_system = update_system(blueprint.distro);
    remove_module_leftovers(tree);
    if (tree.update_system == UpdateSystem::snapshots) {
        link_weak_updates(tree);
    }
    check_kernel_modules(ctx, resolution.driver_version, tree);
    stages.end(counted(tree.entries.size(), "path"));

    if (parent) {
        key.warn_of_parent(*parent);
    }
    stages.begin("customise", "customising");
    check_bundles_on_parent(ctx, blueprint, bundles, facts.kubernetes, tree);
    const auto manifests = place_bundles(bundles, blueprint.microshift.manifests);
    std::optional<ToolRoot> tools;
    run_in_order({
        {"customisation",
         {},
         {"/"},
         [&] {
             Customisation asked(ctx, blueprint, images, manifests, seeds, tree);
             run_in_order(asked.steps());
         }},
        {"tombstones",
         {"customisation"},
         {"/etc/microshift", "/usr/lib/microshift"},
         [&] {
             if (parent) {
                 add_tombstones(ctx, blueprint, bundles, facts.kubernetes, repo, *parent, tree);
             }
         }},
        {"configuration check",
         {"customisation", "tombstones"},
         {},
         [&] {
             check_image_config(ctx, blueprint, parent, tree);
             check_remotes(blueprint.ostree, parent, tree);
             warn_of_missing_lvm(ctx, blueprint.image.volumes, tree);
             check_image_mounts(ctx, blueprint, tree);
             check_account_numbers(blueprint.accounts, blueprint.path, before, tree);
         }},
        {"kernel", {"customisation"}, {"/usr/lib/modules"}, [&] { place_kernel(tree); }},
        {"tools",
         {"customisation", "kernel"},
         {},
         [&] { tools.emplace(ctx, tree, composed.packages, boot_tools(ctx, tree)); }},
        {"depmod",
         {"customisation", "kernel", "tools"},
         {"/usr/lib/modules"},
         [&] { run_depmod(ctx, tree, *tools); }},
        {"module check",
         {"customisation", "depmod"},
         {},
         [&] {
             check_module_index(ctx, resolution.driver_version, tree);
             check_modprobe(ctx, blueprint.modprobe, tree);
             // A host may have the driver and leave its cards to virtual machines.
             if (blueprint.nvidia && !(blueprint.gpu_health && blueprint.gpu_health->passthrough)) {
                 check_driver_is_not_disabled(tree);
             }
         }},
        // Overlays may have brought modules, firmware or libraries.
        {"gpu stack",
         {"customisation", "module check"},
         {gpu_stack_path},
         [&] { add_gpu_stack(ctx, resolution.driver_version, tree); }},
    });
    stages.end(fmt::format("{}, {}, {}", counted(blueprint.overlays.size(), "overlay"),
                           counted(blueprint.microshift.bundles.size(), "bundle"),
                           counted(blueprint.users.size(), "user")));

    if (tree.update_system == UpdateSystem::snapshots) {
        finish_for_snapshots(ctx, tree, stages);
    } else {
        finish_for_ostree(ctx, blueprint, composed.packages, packages.policy_root, tree, *tools,
                          stages);
    }

    stages.begin("commit", "committing");
    composed.deflating.finish();
    Commit commit = write_commit(ctx, blueprint, resolution, tree, repo, parent, inputs, signer,
                                 options.max_upgrade_bytes);
    if (tree.update_system == UpdateSystem::snapshots && parent && !commit.unchanged) {
        warn_of_kept_configuration(ctx, options.repo, *parent, commit);
    }
    stages.end(commit.unchanged ? "the last commit has this image already"
                                : fmt::format("{} new objects, {}", commit.new_objects,
                                              human_size(commit.new_bytes)));
    return {resolution, std::move(commit)};
}

}  // namespace

BuildResult build_image(const Context& given, const Blueprint& blueprint,
                        const BuildOptions& options, Signer& signer) {
    allow_open_files();
    const CacheLock cache_lock(given, CacheUse::build, image_owner());
    Context ctx = given.in(cache_lock.slot());
    const VisibleFiles visible(ctx);
    ctx.visible_files = visible.path();
    Stages stages(ctx, blueprint.path.string());
    return stages.run([&] { return build_in_stages(ctx, blueprint, options, signer, stages); });
}

}  // namespace edgegpu
