#include <cstdio>

#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "commands/commands.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ordered_json outcome(const std::filesystem::path& path, const Error* failure) {
    ordered_json result = {{"path", path.string()}, {"ok", failure == nullptr}};
    if (failure != nullptr) {
        result["error"] = failure->message();
        result["traces"] = failure->traces();
        result["hint"] = failure->hint();
    }
    return result;
}

}  // namespace

int run_check(const GlobalOptions& global, const CheckCommand& command) {
    Console console(standard_error(global.color, global.quiet));
    std::vector<Error> failures;
    ordered_json results = ordered_json::array();
    for (const std::filesystem::path& path : command.blueprints) {
        try {
            const Blueprint blueprint = parse_blueprint(path, command.inputs);
            check_blueprint(blueprint);
            for (const std::string& note : blueprint.notes) {
                console.note(fmt::format("{}: {}", path.string(), note));
            }
            results.push_back(outcome(path, nullptr));
            if (!global.json && !global.quiet) {
                print_result(printable_line(path.string()) + ": ok\n");
            }
        } catch (const Error& failure) {
            results.push_back(outcome(path, &failure));
            failures.push_back(failure);
        }
    }
    if (global.json) {
        // docs/schemas/check.json
        const ordered_json document = {{"format", "edgegpu-check/1"}, {"blueprints", results}};
        print_result(document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n');
    }
    // The last failure is thrown; those before it are shown here, so that one run tells all.
    const bool colored = use_color(global.color);
    for (std::size_t i = 0; i + 1 < failures.size(); ++i) {
        std::fputs(failures[i].render(colored).c_str(), stderr);
    }
    if (!failures.empty()) {
        throw failures.back();
    }
    return 0;
}

}  // namespace edgegpu
