#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "blueprint/blueprint.hpp"
#include "bundles/render.hpp"
#include "cache/cache_lock.hpp"
#include "commands/commands.hpp"
#include "commands/resolution_text.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "execution/stage.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/resolve_blueprint.hpp"
#include "report/diff_packages.hpp"
#include "resolve/resolution.hpp"
#include "resolve/solve/boot_parts.hpp"
#include "resolve/stage/log_resolution.hpp"

namespace edgegpu {

namespace {

Resolution resolve_as_told(const Context& ctx, const Blueprint& blueprint,
                           const ResolveCommand& command) {
    ResolveTask task{{command.explain}, std::nullopt, command.update};
    if (!command.update.empty()) {
        task.locked = read_lockfile(command.lockfile);
    }
    // Else nothing of a resolution depends on the bundles.
    const std::vector<RenderedBundle> bundles =
        blueprint.microshift.embed_images.empty()
            ? std::vector<RenderedBundle>{}
            : render_bundles(ctx, blueprint.microshift.bundles);
    return resolve_blueprint(ctx, blueprint, bundles, task).resolution;
}

}  // namespace

int run_resolve(const GlobalOptions& global, const ResolveCommand& command) {
    Console console(console_output(global));
    const Blueprint blueprint = read_checked_blueprint(global, command.blueprint, command.inputs);
    show_remarks(blueprint, console);
    Context ctx;
    ctx.cache = cache_directory(command.cache_dir);
    ctx.console = &console;
    ctx.log = global.log;
    ctx.cancelled = &interrupted();
    ctx.offline = command.offline;
    ctx.jobs = available_processors();
    const CacheLock cache_lock(ctx, CacheUse::resolve);
    ctx.slot = cache_lock.slot();

    Stages stages(ctx, blueprint.path.string());
    std::vector<Nevra> before;
    const Resolution resolution = stages.run([&] {
        stages.begin("resolve", "resolving");
        // Read before the lockfile is written, as the two may be the same file.
        if (!command.against.empty()) {
            before = packages_of(command.against, command.repo);
        }
        Resolution found = resolve_as_told(ctx, blueprint, command);
        for (const std::string& part : missing_boot_parts(blueprint.distro, found)) {
            console.warn_of("the image would not boot as an ostree device, it lacks", part);
        }
        stages.end(describe(found));
        return found;
    });
    log_resolution(ctx.log, resolution);
    if (!command.lockfile.empty()) {
        write_lockfile(command.lockfile, resolution);
    }
    std::optional<std::vector<PackageChange>> changes;
    if (!command.against.empty()) {
        std::vector<Nevra> now;
        for (const ResolvedPackage& package : resolution.packages) {
            now.push_back(package.nevra);
        }
        changes = compare_packages(before, now);
    }
    print_result(global.json ? resolution_json(resolution, blueprint, changes, console.warnings())
                             : resolution_text(resolution, blueprint, changes));
    return 0;
}

}  // namespace edgegpu
