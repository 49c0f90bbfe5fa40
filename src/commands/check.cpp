#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "blueprint/document/merged_text.hpp"
#include "blueprint/known_secrets.hpp"
#include "blueprint/parse/parse.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "bundles/checks/checks.hpp"
#include "bundles/install/bundle_secrets.hpp"
#include "bundles/install/place.hpp"
#include "bundles/render.hpp"
#include "commands/blueprint_json.hpp"
#include "commands/commands.hpp"
#include "commands/image_blueprint.hpp"
#include "microshift/config_check.hpp"
#include "openshift/node_objects.hpp"
#include "pipeline/check.hpp"
#include "support/error.hpp"
#include "support/secrets.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ordered_json outcome(const std::filesystem::path& path, const ReadBlueprint& read) {
    const Blueprint& blueprint = read.blueprint;
    ordered_json files = ordered_json::array();
    for (const BlueprintFile& file : read.document.files) {
        files.push_back({{"file", file.name}, {"sha256", file.sha256}});
    }
    return {{"path", path.string()},
            {"ok", true},
            {"files", files},
            {"blueprint", blueprint_json(blueprint)},
            {"warnings", blueprint.warnings},
            {"notes", blueprint.notes}};
}

ordered_json outcome(const std::filesystem::path& path, const Error& failure) {
    ordered_json errors = mistakes_document(failure);
    const Error first = single_errors(failure).front();
    return {{"path", path.string()},
            {"ok", false},
            {"error", hide_secrets(first.message())},
            {"traces", errors[0]["traces"]},
            {"hint", hide_secrets(first.hint())},
            {"errors", std::move(errors)}};
}

/// A message about the whole blueprint gets its name.
void show_remarks(const std::filesystem::path& path, const Blueprint& blueprint, Console& console) {
    for (const std::string& warning : blueprint.warnings) {
        console.note("warning: " + warning);
    }
    for (const std::string& note : blueprint.notes) {
        const bool placed = note.starts_with(path.string() + ':');
        console.note(placed ? note : fmt::format("{}: {}", path.string(), note));
    }
}

/// Runs `work` and keeps the Error that it throws, so that the other checks run as well.
template <typename Work>
void keep(Mistakes& mistakes, Work&& work) {
    try {
        std::forward<Work>(work)();
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        mistakes.add(failure);
    }
}

void print_merged(const ReadBlueprint& read, Console& console) {
    const Secrets secrets;
    add_secrets(read.blueprint, secrets);
    const MergedText merged = merged_text(read.document, read.paths, secrets);
    print_result(merged.text);
    if (merged.hidden > 0) {
        console.note(
            fmt::format("{} hidden in what is printed, which is another blueprint "
                        "therefore: passwords, password hashes, private keys, credentials "
                        "of URLs",
                        counted(merged.hidden, "value")));
    }
}

}  // namespace

void check_read_blueprint(const Context& ctx, Blueprint& blueprint) {
    Mistakes mistakes;
    keep(mistakes, [&] { check_image_settings(blueprint); });
    keep(mistakes, [&] {
        const std::vector<std::string> more = check_without_image(ctx, blueprint, mistakes);
        blueprint.warnings.insert(blueprint.warnings.end(), more.begin(), more.end());
    });
    keep(mistakes, [&] {
        check_microshift_config(blueprint.microshift, requested_microshift(blueprint.packages));
    });
    keep(mistakes, [&] {
        const std::vector<RenderedBundle> bundles =
            render_bundles(ctx, blueprint.microshift.bundles);
        check_together(ctx, bundles, blueprint.microshift.manifests);
        const std::vector<std::string> allowed = check_bundle_secrets(blueprint, bundles);
        blueprint.warnings.insert(blueprint.warnings.end(), allowed.begin(), allowed.end());
        check_bundles(bundles, facts_of(blueprint));
    });
    if (blueprint.openshift) {
        keep(mistakes, [&] {
            const NodeObjects objects = node_objects(
                *blueprint.openshift, blueprint.openshift->image, blueprint.architecture, {});
            blueprint.warnings.insert(blueprint.warnings.end(), objects.warnings.begin(),
                                      objects.warnings.end());
        });
    }
    mistakes.throw_any(blueprint.path.string());
}

int run_check(const GlobalOptions& global, const CheckCommand& command,
              const RunningCommand& running) {
    if (command.print && (global.json || command.blueprints.size() > 1)) {
        throw error(ErrorKind::usage, "--print is for one blueprint, and prints TOML")
            .hinted("omit --json and other blueprints");
    }
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    std::vector<Error> failures;
    ordered_json results = ordered_json::array();
    for (const std::filesystem::path& path : command.blueprints) {
        try {
            ReadBlueprint read = read_checked_document(global, path, command.inputs);
            Blueprint& blueprint = read.blueprint;
            check_read_blueprint(ctx, blueprint);
            show_remarks(path, blueprint, console);
            results.push_back(outcome(path, read));
            if (command.print) {
                print_merged(read, console);
            } else if (!global.json && !global.quiet) {
                print_result(printable_line(path.string()) + ": ok\n");
            }
        } catch (const Error& failure) {
            results.push_back(outcome(path, failure));
            for (const Error& single : single_errors(failure)) {
                failures.push_back(single);
            }
        }
    }
    if (global.json) {
        // docs/schemas/check.json
        const ordered_json document = {{"format", "edgegpu-check/1"}, {"blueprints", results}};
        print_result(document_text(document));
    }
    // The document has all failures: there is no separate one for the last, as for other commands.
    int status = 0;
    for (const Error& failure : failures) {
        status = report_failure_without_document(running, failure);
    }
    return status;
}

}  // namespace edgegpu
