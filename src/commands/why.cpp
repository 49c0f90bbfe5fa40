#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "cache/cache_lock.hpp"
#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "execution/stage.hpp"
#include "resolve/stage/explain_package.hpp"

namespace edgegpu {

namespace {

std::string answer_text(const WhyCommand& command, const PackageAnswer& answer) {
    std::string text;
    for (const PackageReason& reason : answer.installed) {
        const ResolvedPackage& package = reason.package;
        text += package.nevra.text();
        if (!reason.provides.empty()) {
            text += fmt::format(" provides {}", reason.provides);
        }
        text += fmt::format("\n  from repository {}; {}\n  {}\n", package.repository,
                            package.why.text(), reason.origin);
        for (const std::string& link : reason.chain) {
            text += fmt::format("    {}\n", link);
        }
        if (!reason.required_by.empty()) {
            text += fmt::format("  required by {}\n", fmt::join(reason.required_by, ", "));
        }
    }
    if (answer.installed.empty()) {
        text += fmt::format("{} is not in the image\n", command.package);
        for (const std::string& line : answer.kept_out) {
            text += fmt::format("  {}\n", line);
        }
    }
    return text;
}

std::string answer_json(const WhyCommand& command, const PackageAnswer& answer) {
    using nlohmann::ordered_json;
    ordered_json installed = ordered_json::array();
    for (const PackageReason& reason : answer.installed) {
        installed.push_back({{"nevra", reason.package.nevra.text()},
                             {"repository", reason.package.repository},
                             {"why", reason.package.why.text()},
                             {"origin", reason.origin},
                             {"chain", reason.chain},
                             {"required_by", reason.required_by}});
    }
    const ordered_json document = {{"format", "edgegpu-why/1"},
                                   {"package", command.package},
                                   {"installed", installed},
                                   {"kept_out", answer.kept_out}};
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_why(const GlobalOptions& global, const WhyCommand& command) {
    // The progress of the resolve is not shown, but warnings and notes about the blueprint are.
    const Blueprint blueprint = read_checked_blueprint(global, command.blueprint, command.inputs);
    ConsoleOutput output = console_output(global);
    {
        Console notes(output);
        show_remarks(blueprint, notes);
    }
    output.quiet = true;
    Console console(std::move(output));
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
    const PackageAnswer answer = stages.run([&] {
        stages.begin_quietly("resolve", "resolving");
        PackageAnswer found = why_package(ctx, blueprint, command.package);
        stages.end("");
        return found;
    });
    print_result(global.json ? answer_json(command, answer) : answer_text(command, answer));
    return 0;
}

}  // namespace edgegpu
