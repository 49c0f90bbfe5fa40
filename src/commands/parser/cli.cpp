#include "commands/parser/cli.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "commands/parser/completion_words.hpp"
#include "commands/parser/options.hpp"
#include "commands/parser/usage.hpp"
#include "support/error.hpp"
#include "upload/remote_name.hpp"

namespace edgegpu {

namespace {

constexpr const char* description =
    "Composes immutable operating-system images for edge devices with GPUs: resolves driver and\n"
    "container toolkit RPMs, assembles the tree, compiles the SELinux policy and commits the\n"
    "result to an ostree ref.";

/// Appends the options given for `app` as words of a command line.
void append_given(const CLI::App& app, const std::set<std::string>& left_out,
                  std::vector<std::string>& words) {
    for (const CLI::Option* option : app.get_options()) {
        const std::vector<std::string> names = option->get_lnames();
        if (option->count() == 0 || names.empty() || left_out.contains(names.front())) {
            continue;
        }
        const std::string name = "--" + names.front();
        if (option->get_items_expected_max() == 0) {
            words.push_back(name);
            continue;
        }
        for (const std::string& value : option->results()) {
            words.push_back(name + '=' + value);
        }
    }
}

/// The options for each of several builds: all that do not concern their common result.
std::vector<std::string> given_to_each(const CLI::App& app) {
    const std::set<std::string> left_out{"color",   "quiet",       "json",
                                         "jobs",    "progress-fd", "unchanged-exit-77",
                                         "verbose", "log-level"};
    std::vector<std::string> words;
    append_given(app, left_out, words);
    append_given(*app.get_subcommand("build"), left_out, words);
    return words;
}

/// The name of the blueprint's file for a command that has one, else the command's; and the
/// process, as several builds may append to one file.
std::string build_name(const std::string& verb, const CommandLine& arguments) {
    std::string name = verb;
    if (verb == "build") {
        const std::vector<std::filesystem::path>& files = arguments.build.blueprints;
        name = files.size() == 1 ? files.front().stem().string() : verb;
    } else if (verb == "resolve") {
        name = arguments.resolve.blueprint.stem().string();
    } else if (verb == "why") {
        name = arguments.why.blueprint.stem().string();
    }
    return fmt::format("{}:{}", name, ::getpid());
}

Log open_log(const GlobalOptions& global, const std::string& build) {
    Log log(build);
    for (const char* variable : {"http_proxy", "https_proxy", "ftp_proxy", "all_proxy",
                                 "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY"}) {
        if (const char* proxy = std::getenv(variable)) {
            log.secrets().add_url(proxy);
        }
    }
    if (!global.log_file.empty()) {
        log.add_file(global.log_file, global.log_format);
    }
    return log;
}

/// The text that `edgegpu COMMAND --help` prints; of no command, edgegpu's own.
std::string help_of(const CLI::App& app, const std::string& command) {
    if (command.empty()) {
        // Not help(), which is that of the command line's command.
        return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
    }
    const auto found = app.get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == command; });
    if (found.empty()) {
        throw no_command(describe_interface(app), {command});
    }
    return found.front()->help(app.get_name());
}

int run_verb(const CLI::App& app, const std::string& verb, const CommandLine& arguments,
             const RunningCommand& running) {
    const GlobalOptions& global = arguments.global;
    const std::map<std::string_view, std::function<int()>> commands{
        {"init", [&] { return run_init(global, arguments.init); }},
        {"build", [&] { return run_build(global, arguments.build); }},
        {"resolve", [&] { return run_resolve(global, arguments.resolve); }},
        {"why", [&] { return run_why(global, arguments.why); }},
        {"diff", [&] { return run_diff(global, arguments.diff); }},
        {"test", [&] { return run_test(global, arguments.test); }},
        {"image", [&] { return run_image(global, arguments.image); }},
        {"publish", [&] { return run_publish(global, arguments.publish); }},
        {"promote", [&] { return run_promote(global, arguments.promote); }},
        {"channels", [&] { return run_channels(global, arguments.channels); }},
        {"fsck", [&] { return run_fsck(global, arguments.fsck); }},
        {"prune", [&] { return run_prune(global, arguments.prune); }},
        {"upload", [&] { return run_upload(global, arguments.upload); }},
        {"rollout", [&] { return run_rollout(global, arguments.rollout); }},
        {"export", [&] { return run_export(global, arguments.exported); }},
        {"openshift", [&] { return run_openshift(global, arguments.openshift); }},
        {"check", [&] { return run_check(global, arguments.check, running); }},
        {"cache", [&] { return run_cache(global, arguments.cache); }},
        {"package-driver", [&] { return run_package_driver(global, arguments.package_driver); }},
        {"gpus", [&] { return run_gpus(global, arguments.gpu); }},
        {"doctor", [&] { return run_doctor(global, arguments.doctor_cache_dir); }},
        {"bundles", [&] { return run_bundles(global, arguments.bundle); }},
    };
    if (const auto command = commands.find(verb); command != commands.end()) {
        return command->second();
    }
    if (verb == "help") {
        print_result(help_of(app, arguments.explained));
    } else if (verb == "completion") {
        const std::string& wanted = arguments.completed;
        const bool shell = wanted == "bash" || wanted == "zsh" || wanted == "fish";
        print_result(shell ? completion_script(describe_interface(app), wanted)
                           : completion_words(wanted, arguments.completed_repo));
    } else {
        print_result(manual_page(describe_interface(app)));
    }
    return 0;
}

}  // namespace

int run_command_line(int argc, char** argv, RunningCommand& running) {
    CLI::App app(description, "edgegpu");
    CommandLine arguments;
    add_options(app, arguments);
    // Until the parser knows: it stops at a mistake, and an option after that counts, too.
    running.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        // The parser takes --help and --version before it says what it did not understand.
        if (const std::vector<std::string> rest = app.remaining(true); !rest.empty()) {
            throw usage_error(app, CLI::ExtrasError(app.get_name(), rest));
        }
        return app.exit(help_or_version);
    } catch (const CLI::ParseError& failure) {
        throw usage_error(app, failure);
    }
    GlobalOptions& global = arguments.global;
    running.color = global.color;
    running.json = global.json;
    if (app.get_subcommands().empty()) {
        throw no_command(describe_interface(app), {});
    }
    running.name = app.get_subcommands().front()->get_name();
    if (running.name == "build") {
        arguments.build.given = given_to_each(app);
    }
    global.log = running.log = open_log(global, build_name(running.name, arguments));
    for (const std::string& secret : secrets_of_remote(arguments.upload.to)) {
        global.log.secrets().add(secret);
    }
    const auto began = std::chrono::steady_clock::now();
    running.log.info(
        "edgegpu begins",
        {{"version", EDGEGPU_VERSION}, {"arguments", std::vector<std::string>(argv, argv + argc)}});
    const int status = run_verb(app, running.name, arguments, running);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
    running.log.info("edgegpu ends", {{"exit_status", status}, {"seconds", time.count()}});
    return status;
}

}  // namespace edgegpu
