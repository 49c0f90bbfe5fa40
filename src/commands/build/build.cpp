#include <chrono>

#include <fmt/format.h>

#include "blueprint/blueprint.hpp"
#include "commands/build/build_result.hpp"
#include "commands/build/builds.hpp"
#include "commands/build_paths.hpp"
#include "commands/commands.hpp"
#include "commit/signing_request.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "log/build_log.hpp"
#include "pipeline/pipeline.hpp"
#include "sandbox/user_namespace.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

/// The log of every build is in its cache. A build does not fail for lack of it.
void keep_log(Context& ctx, LogFormat format, Console& console) {
    try {
        ctx.log.add_file(begin_build_log(ctx.cache, format), format);
    } catch (const Error& problem) {
        console.warn(problem.message());
    }
}

/// The ref is set, whether or not anybody is told.
void show_result(const GlobalOptions& global, const BuildResult& result, const Blueprint& blueprint,
                 const BuildOptions& options, const Console& console) {
    try {
        print_result(global.json ? build_document(result, blueprint, options, console)
                                 : build_summary(result, blueprint, options, console));
    } catch (const std::exception& failure) {
        const auto* known = dynamic_cast<const Error*>(&failure);
        throw Error(known != nullptr ? *known
                                     : error("the result cannot be shown: {}", failure.what()))
            .traced(fmt::format("ref {} in {} has commit {} nevertheless", result.commit.ref,
                                options.repo.string(), result.commit.checksum));
    }
}

/// The build has succeeded, even if the cache stays larger than it should.
void try_to_prune(const Context& ctx, const std::string& max_size) {
    if (const auto reason = reason_of_failure([&] { prune_after_build(ctx, max_size); })) {
        ctx.console->warn(fmt::format(
            "the cache is not pruned to {}: {}; later, `edgegpu cache prune --max-size {}` does it",
            max_size, *reason, max_size));
    }
}

}  // namespace

int run_build(const GlobalOptions& global, const BuildCommand& command) {
    if (command.blueprints.size() > 1) {
        return run_builds(global, command);
    }
    const std::filesystem::path& path = command.blueprints.front();
    // First of all, and outside of the build's namespace: the keys are the caller's.
    Signer signer(&interrupted());
    Context ctx;
    ctx.cache = cache_directory(command.cache_dir);
    enter_build_namespace();
    Console console(console_output(global));
    const Blueprint blueprint = read_checked_blueprint(global, path, command.inputs);
    require_outside_of_image(blueprint, "cache", ctx.cache);
    require_outside_of_image(blueprint, "repository", command.repo);
    require_another_ref(blueprint, command.repo);
    signer.allow(signing_request(blueprint.ostree, blueprint.nvidia));
    ctx.log = global.log;
    keep_log(ctx, global.log_format, console);
    signer.log_to(ctx.log);
    ctx.jobs = command.jobs != 0 ? command.jobs : available_processors();
    ctx.log.info("build begins", {{"version", EDGEGPU_VERSION},
                                  {"blueprint", blueprint.path},
                                  {"name", blueprint.name},
                                  {"ref", blueprint.ostree.ref},
                                  {"cache", ctx.cache},
                                  {"jobs", ctx.jobs}});
    show_remarks(blueprint, console);
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.offline = command.offline;
    ctx.program_timeout = std::chrono::seconds(command.program_timeout);

    BuildOptions options;
    options.repo = std::filesystem::absolute(command.repo).lexically_normal();
    ctx.deflate_level = deflate_level(options.repo, command.compression);
    options.locked = command.locked;
    options.explain = command.explain;
    options.max_upgrade_bytes = parse_size(command.max_upgrade_bytes);
    options.lockfile = lockfile_of(command, blueprint, console);

    const BuildResult result = build_image(ctx, blueprint, options, signer);
    show_result(global, result, blueprint, options, console);
    try_to_prune(ctx, command.cache_max_size);
    return result.commit.unchanged && command.unchanged_exit_77 ? 77 : 0;
}

}  // namespace edgegpu
