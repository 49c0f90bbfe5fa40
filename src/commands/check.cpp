#include <cstdio>

#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "blueprint/parse/parse.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "commands/blueprint_json.hpp"
#include "commands/commands.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ordered_json outcome(const std::filesystem::path& path, const Blueprint& blueprint) {
    return {{"path", path.string()},
            {"ok", true},
            {"blueprint", blueprint_json(blueprint)},
            {"warnings", blueprint.warnings},
            {"notes", blueprint.notes}};
}

ordered_json outcome(const std::filesystem::path& path, const Error& failure) {
    const std::vector<Error> all = single_errors(failure);
    ordered_json result = {{"path", path.string()},          {"ok", false},
                           {"error", all.front().message()}, {"traces", all.front().traces()},
                           {"hint", all.front().hint()},     {"errors", ordered_json::array()}};
    for (const Error& single : all) {
        const Mistake mistake = mistake_of(single);
        result["errors"].push_back({{"file", mistake.location.file},
                                    {"line", mistake.location.line},
                                    {"column", mistake.location.column},
                                    {"message", mistake.message},
                                    {"traces", single.traces()},
                                    {"hint", mistake.hint}});
    }
    return result;
}

/// What is about the whole blueprint gets its name.
void show_remarks(const std::filesystem::path& path, const Blueprint& blueprint, Console& console) {
    for (const std::string& warning : blueprint.warnings) {
        console.note("warning: " + warning);
    }
    for (const std::string& note : blueprint.notes) {
        const bool placed = note.starts_with(path.string() + ':');
        console.note(placed ? note : fmt::format("{}: {}", path.string(), note));
    }
}

}  // namespace

int run_check(const GlobalOptions& global, const CheckCommand& command) {
    Console console(standard_error(global.color, global.quiet));
    std::vector<Error> failures;
    const auto remember = [&](const Error& failure) {
        for (const Error& single : single_errors(failure)) {
            failures.push_back(single);
        }
    };
    ordered_json results = ordered_json::array();
    for (const std::filesystem::path& path : command.blueprints) {
        try {
            const Blueprint blueprint = load_blueprint(path, command.inputs);
            show_remarks(path, blueprint, console);
            results.push_back(outcome(path, blueprint));
            if (!global.json && !global.quiet) {
                print_result(printable_line(path.string()) + ": ok\n");
            }
        } catch (const Error& failure) {
            results.push_back(outcome(path, failure));
            remember(failure);
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
