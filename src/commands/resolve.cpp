#include <optional>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "bundles/render.hpp"
#include "cache/cache_lock.hpp"
#include "commands/build_paths.hpp"
#include "commands/commands.hpp"
#include "commands/resolution_text.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/resolve_blueprint.hpp"
#include "resolve/resolution.hpp"
#include "resolve/solve/boot_parts.hpp"
#include "resolve/stage/log_resolution.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

Resolution resolve_as_told(const Context& ctx, const Blueprint& blueprint,
                           const ResolveCommand& command) {
    ResolveTask task{{command.explain}, std::nullopt, std::nullopt};
    if (command.keep || !command.update.empty()) {
        task.locked = read_lockfile(command.lockfile);
        task.update = command.update;
    }
    // Else nothing of a resolution depends on the bundles.
    const std::vector<RenderedBundle> bundles =
        blueprint.microshift.embed_images.empty()
            ? std::vector<RenderedBundle>{}
            : render_bundles(ctx, blueprint.microshift.bundles);
    return resolve_blueprint(ctx, blueprint, bundles, task).resolution;
}

/// What the result is compared with; nothing if the command names nothing. Read before the lockfile
/// is written, as the two may be the same file.
std::optional<ImageContent> compared_content(const ResolveCommand& command) {
    if (!command.against.empty()) {
        return content_of(command.against, command.repo);
    }
    if (!command.changes_only) {
        return std::nullopt;
    }
    if (command.lockfile.empty()) {
        throw error(ErrorKind::usage, "--changes-only: nothing is named to compare with")
            .hinted("--lock FILE or --against LOCK|REF");
    }
    return content_of(read_lockfile(command.lockfile));
}

}  // namespace

int run_resolve(const GlobalOptions& global, const ResolveCommand& command) {
    Console console(console_output(global));
    const Blueprint blueprint = read_checked_blueprint(global, command.blueprint, command.inputs);
    show_remarks(blueprint, console);
    if (!command.lockfile.empty() && !command.dry_run) {
        require_lockfile_apart(blueprint, command.lockfile);
    }
    Context ctx = context_with_cache(global, console, command.cache_dir);
    ctx.offline = command.offline;
    const CacheLock cache_lock(ctx, CacheUse::resolve);
    ctx.slot = cache_lock.slot();

    Stages stages(ctx, blueprint.path.string());
    std::optional<ImageContent> before;
    const Resolution resolution = stages.run([&] {
        stages.begin("resolve", "resolving");
        before = compared_content(command);
        Resolution found = resolve_as_told(ctx, blueprint, command);
        const std::vector<std::string> missing = blueprint.parent
                                                     ? std::vector<std::string>()
                                                     : missing_boot_parts(blueprint.distro, found);
        const std::optional<Error> refusal = build_refusal(blueprint.distro, found);
        if (refusal && !blueprint.parent) {
            console.warn(refusal->message());
        } else {
            for (const std::string& part : missing) {
                console.warn_of(fmt::format("the image would not {}, it lacks",
                                            purpose_of_image(blueprint.distro)),
                                part);
            }
        }
        stages.end(describe(found));
        return found;
    });
    log_resolution(ctx.log, resolution);
    if (!command.lockfile.empty() && !command.dry_run) {
        write_lockfile(command.lockfile, resolution);
    }
    std::optional<ContentChanges> changes;
    if (before) {
        changes = changes_since(*before, resolution);
    }
    print_result(global.json ? resolution_json(resolution, blueprint, changes, console.warnings())
                 : command.changes_only ? changes_text(*changes)
                                        : resolution_text(resolution, blueprint, changes));
    return 0;
}

}  // namespace edgegpu
