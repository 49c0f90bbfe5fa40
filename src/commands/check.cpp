#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "commands/commands.hpp"
#include "support/error.hpp"

namespace edgegpu {

int run_check(const GlobalOptions& global, const std::vector<std::filesystem::path>& blueprints) {
    std::vector<Error> failures;
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (const std::filesystem::path& path : blueprints) {
        try {
            check_blueprint(parse_blueprint(path));
            results.push_back({{"path", path.string()}, {"ok", true}});
            if (!global.json) {
                fmt::print("{}: ok\n", path.string());
            }
        } catch (const Error& failure) {
            results.push_back(
                {{"path", path.string()}, {"ok", false}, {"error", failure.message()}});
            failures.push_back(failure);
        }
    }
    if (global.json) {
        const nlohmann::ordered_json document = {{"format", "edgegpu-check/1"},
                                                 {"blueprints", results}};
        fmt::print("{}\n", document.dump(2));
    }
    // The last failure is thrown; those before it are shown here, so that one run tells all.
    for (std::size_t i = 0; i + 1 < failures.size(); ++i) {
        fmt::print(stderr, "{}", failures[i].render());
    }
    if (!failures.empty()) {
        throw failures.back();
    }
    return 0;
}

}  // namespace edgegpu
