#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "commands/commands.hpp"
#include "pipeline_inputs.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"
#include "support/interrupt.hpp"

namespace edgegpu {

namespace {

void print_json(const Resolution& resolution) {
    nlohmann::ordered_json packages = nlohmann::ordered_json::array();
    for (const ResolvedPackage& package : resolution.packages) {
        packages.push_back({{"nevra", package.nevra.text()},
                            {"repository", package.repository},
                            {"sha256", package.sha256},
                            {"size", package.size},
                            {"module", package.module},
                            {"why", package.why}});
    }
    const nlohmann::ordered_json document = {{"format", "edgegpu-resolve/1"},
                                             {"kernel", resolution.kernel.text()},
                                             {"driver", resolution.driver_version},
                                             {"packages", packages}};
    fmt::print("{}\n", document.dump(2));
}

}  // namespace

int run_resolve(const GlobalOptions& global, const ResolveCommand& command) {
    const Blueprint blueprint = parse_blueprint(command.blueprint);
    check_blueprint(blueprint);
    Console console(global.color, global.quiet);
    Context ctx;
    ctx.cache = cache_directory(command.cache_dir);
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.offline = command.offline;
    ctx.jobs = std::max(1U, std::thread::hardware_concurrency());

    console.begin_stage("resolve");
    const Resolution resolution = resolve(ctx, blueprint);
    console.end_stage(describe(resolution));
    if (!command.lockfile.empty()) {
        write_lockfile(command.lockfile, resolution);
    }
    if (global.json) {
        print_json(resolution);
        return 0;
    }
    for (const ResolvedPackage& package : resolution.packages) {
        fmt::print("{:<60} {:<12} {}\n", package.nevra.text(), package.repository, package.why);
    }
    return 0;
}

}  // namespace edgegpu
