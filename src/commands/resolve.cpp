#include <algorithm>
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

/// docs/schemas/resolve.json
std::string json_document(const Resolution& resolution, const Console& console) {
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
                                             {"packages", packages},
                                             {"warnings", console.warnings()}};
    using nlohmann::ordered_json;
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

/// One line a package; the columns are as wide as their widest value.
std::string table(const Resolution& resolution) {
    std::size_t name_width = 0;
    std::size_t repository_width = 0;
    for (const ResolvedPackage& package : resolution.packages) {
        name_width = std::max(name_width, package.nevra.text().size());
        repository_width = std::max(repository_width, package.repository.size());
    }
    std::string text;
    for (const ResolvedPackage& package : resolution.packages) {
        text += printable_line(fmt::format("{:<{}}  {:<{}}  {}", package.nevra.text(), name_width,
                                           package.repository, repository_width, package.why)) +
                '\n';
    }
    return text;
}

}  // namespace

int run_resolve(const GlobalOptions& global, const ResolveCommand& command) {
    const Blueprint blueprint = parse_blueprint(command.blueprint);
    check_blueprint(blueprint);
    Console console(standard_error(global.color, global.quiet, global.progress_fd));
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
    print_result(global.json ? json_document(resolution, console) : table(resolution));
    return 0;
}

}  // namespace edgegpu
