#include "commands/cli.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "blueprint/parse/parse.hpp"
#include "commands/commands.hpp"
#include "commands/usage.hpp"
#include "support/error.hpp"
#include "support/quantity.hpp"

namespace edgegpu {

namespace {

constexpr const char* description =
    "Composes immutable operating-system images for edge devices with GPUs: resolves driver and\n"
    "container toolkit RPMs, assembles the tree, compiles the SELinux policy and commits the\n"
    "result to an ostree ref.";

constexpr const char* footer =
    "Exit status: 0 success; 1 failure; 2 wrong usage or invalid blueprint; 3 unsolvable;\n"
    "4 download or verification failed; 77 unchanged (with --unchanged-exit-77);\n"
    "130 interrupted. The result goes to stdout, everything else to stderr. NO_COLOR is honoured.";

/// Everything the command line can say.
struct Arguments {
    GlobalOptions global;
    BuildCommand build;
    ResolveCommand resolve;
    WhyCommand why;
    DiffCommand diff;
    CheckCommand check;
    CacheCommand cache;
    std::string gpu;
    std::string shell;
};

/// A validator that does not add a description of its own to the help.
CLI::Validator one_of(std::vector<std::string> choices) {
    return {[choices = std::move(choices)](std::string& value) -> std::string {
                if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
                    return "";
                }
                return fmt::format("\"{}\" is not one of {}", value, fmt::join(choices, ", "));
            },
            ""};
}

CLI::Validator number_in(int least, int most) {
    return {[least, most](std::string& value) -> std::string {
                int number = 0;
                if (CLI::detail::lexical_cast(value, number) && number >= least && number <= most) {
                    return "";
                }
                return fmt::format("\"{}\" is not a number from {} to {}", value, least, most);
            },
            ""};
}

CLI::Validator size_text() {
    return {[](std::string& value) -> std::string {
                return parse_size(value)
                           ? ""
                           : fmt::format("\"{}\" is not a size: {}", value, size_forms);
            },
            ""};
}

CLI::Validator duration_text() {
    return {[](std::string& value) -> std::string {
                return parse_duration(value)
                           ? ""
                           : fmt::format("\"{}\" is not a duration: {}", value, duration_forms);
            },
            ""};
}

const std::vector<std::string> level_names{"error", "warning", "info", "debug"};

void add_log_options(CLI::App& app, GlobalOptions& global) {
    app.add_option("--log", global.log_file,
                   "Append log records to this file: decisions, programs with their whole output, "
                   "requests; "
                   "without passwords and keys")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "--log-format",
           [&global](const std::string& format) {
               global.log_format = format == "json" ? LogFormat::json : LogFormat::text;
           },
           "Format of log files; json: one object per line (default: text)")
        ->check(one_of({"text", "json"}))
        ->type_name("text|json");
    app.add_option_function<std::string>(
           "--log-level",
           [&global](const std::string& name) {
               const auto found = std::find(level_names.begin(), level_names.end(), name);
               global.log_level = static_cast<LogLevel>(found - level_names.begin());
           },
           "Show log records up to this level on stderr")
        ->check(one_of(level_names))
        ->type_name("error|warning|info|debug");
    app.add_flag_function(
        "-v,--verbose",
        [&global](std::int64_t count) {
            if (!global.log_level) {
                global.log_level = count > 1 ? LogLevel::debug : LogLevel::info;
            }
        },
        "Show decisions on stderr; -vv: every program and request, too");
}

void add_global(CLI::App& app, GlobalOptions& global) {
    add_log_options(app, global);
    app.add_option_function<std::string>(
           "--color",
           [&global](const std::string& when) {
               global.color = when == "always"  ? Color::always
                              : when == "never" ? Color::never
                                                : Color::automatic;
           },
           "Colour messages; auto: on a terminal, unless NO_COLOR is set (default: auto)")
        ->check(one_of({"auto", "always", "never"}))
        ->type_name("auto|always|never");
    app.add_flag("-q,--quiet", global.quiet, "Show warnings and errors only")
        ->excludes(app.get_option("--verbose"), app.get_option("--log-level"));
    app.add_flag("--json", global.json, "Print the result as one JSON document");
    app.add_option("--progress-fd", global.progress_fd,
                   "Write progress events as JSON Lines to this open file descriptor")
        ->check(number_in(0, 1 << 20))
        ->type_name("N");
}

void add_cache_dir(CLI::App& verb, std::filesystem::path& cache_dir) {
    verb.add_option("--cache-dir", cache_dir,
                    "Directory for downloads and intermediate results "
                    "(default: $XDG_CACHE_HOME/edgegpu or ~/.cache/edgegpu)")
        ->type_name("DIR");
}

void add_cache_options(CLI::App& verb, std::filesystem::path& cache_dir, bool& offline) {
    add_cache_dir(verb, cache_dir);
    verb.add_flag("--offline", offline,
                  "Do not use the network: use what is in the cache, or fail");
}

/// What a blueprint may leave to the command line.
void add_blueprint_options(CLI::App& verb, BlueprintOptions& inputs) {
    verb.add_option("--repository-file", inputs.repository_files,
                    "A .repo file whose repositories are added to those of the blueprint; can be "
                    "given several times. Without any repository, those of this machine are used "
                    "(/etc/yum.repos.d) if its distribution is that of the image")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb.add_option("--distro", inputs.distro,
                    "Distribution of the image, such as rhel-9.4, centos-9 or fedora-40 (default: "
                    "distro in the blueprint, else that of this machine)")
        ->type_name("NAME-VERSION");
}

void add_explain_option(CLI::App& verb, bool& explain) {
    verb.add_flag("--explain", explain,
                  "If the blueprint cannot be solved, print the whole proof of the solver");
}

void add_build(CLI::App& app, BuildCommand& build) {
    CLI::App* verb = app.add_subcommand(
        "build", "Build the image of a blueprint and commit it to an ostree repository");
    verb->add_option(
            "BLUEPRINT", build.blueprints,
            "Blueprint file (TOML); several are built in parallel and share the cache; a build "
            "that fails does not stop the others")
        ->required()
        ->type_name("BLUEPRINT");
    verb->add_option("--repo", build.repo,
                     "ostree repository (mode archive); created if it does not exist "
                     "(default: repo, in the working directory)")
        ->type_name("DIR");
    add_blueprint_options(*verb, build.inputs);
    add_cache_options(*verb, build.cache_dir, build.offline);
    verb->add_option("--lock", build.lockfile,
                     "Lockfile to write, or to read with --locked (default: the name of the "
                     "blueprint with .lock, next to the repository)")
        ->type_name("FILE");
    verb->add_flag("--locked", build.locked, "Build exactly the packages of the lockfile, or fail");
    add_explain_option(*verb, build.explain);
    verb->add_flag("--unchanged-exit-77", build.unchanged_exit_77,
                   "Exit with status 77 if the inputs are the same as those of the last commit");
    verb->add_option_function<std::string>(
            "--compression",
            [&build](const std::string& name) {
                build.compression = parse_compression(name).value_or(Compression::usual);
            },
            "Compression of new objects: fast takes less time and more space, best the opposite; "
            "checksums do not depend on it (default: zlib-level in the config of the repository, "
            "else level 6)")
        ->check(one_of({"fast", "default", "best"}))
        ->type_name("fast|default|best");
    verb->add_option(
            "--jobs", build.jobs,
            "Number of worker threads; with several blueprints, number of parallel builds, "
            "which share the processors (default: number of processors)")
        ->type_name("N")
        ->check(number_in(1, 256));
    verb->add_option("--program-timeout", build.program_timeout,
                     "Time limit for each program of the image, such as a scriptlet or dracut; six "
                     "times as long for compiling kernel modules; 0: no limit (default: 600)")
        ->type_name("SECONDS")
        ->check(number_in(0, 86400));
    verb->add_option(
            "--cache-max-size", build.cache_max_size,
            "After the build, remove the least recently used entries until the cache is no "
            "larger than this, such as 20G or 500M (default: remove nothing)")
        ->type_name("SIZE")
        ->check(size_text());
}

void add_resolve(CLI::App& app, ResolveCommand& resolve) {
    CLI::App* verb =
        app.add_subcommand("resolve", "Show the packages of an image, and why each is included");
    verb->add_option("BLUEPRINT", resolve.blueprint, "Blueprint file (TOML)")
        ->required()
        ->type_name("BLUEPRINT");
    add_blueprint_options(*verb, resolve.inputs);
    add_cache_options(*verb, resolve.cache_dir, resolve.offline);
    CLI::Option* lock =
        verb->add_option("--lock", resolve.lockfile,
                         "Write the lockfile to this file; with --update, read it first")
            ->type_name("FILE");
    verb->add_option(
            "--update", resolve.update,
            "Update only these packages (all, if none is named) and keep the rest as locked")
        ->type_name("PACKAGE")
        ->expected(0, -1)
        ->needs(lock);
    verb->add_option("--against", resolve.against,
                     "Show the changes since a lockfile, or since a ref of --repo, first")
        ->type_name("LOCK|REF");
    verb->add_option("--repo", resolve.repo,
                     "ostree repository for --against (default: repo, in the working directory)")
        ->type_name("DIR");
    add_explain_option(*verb, resolve.explain);
}

void add_why(CLI::App& app, WhyCommand& why) {
    CLI::App* verb = app.add_subcommand(
        "why", "Show which dependencies pull a package into the image, or what keeps it out");
    verb->add_option("BLUEPRINT", why.blueprint, "Blueprint file (TOML)")
        ->required()
        ->type_name("BLUEPRINT");
    verb->add_option(
            "PACKAGE", why.package,
            "Name, NEVRA or glob of a package, a capability that packages provide, or a path")
        ->required()
        ->type_name("PACKAGE");
    add_blueprint_options(*verb, why.inputs);
    add_cache_options(*verb, why.cache_dir, why.offline);
}

void add_check(CLI::App& app, CheckCommand& check) {
    CLI::App* verb = app.add_subcommand("check", "Validate blueprints without network access");
    verb->add_option("BLUEPRINT", check.blueprints, "Blueprint files (TOML)")
        ->required()
        ->type_name("BLUEPRINT");
    add_blueprint_options(*verb, check.inputs);
}

void add_diff(CLI::App& app, DiffCommand& diff) {
    CLI::App* verb = app.add_subcommand(
        "diff", "Show the differences between two commits, from packages to policy rules");
    verb->add_option(
            "A", diff.before,
            "Ref, checksum or abbreviated checksum of a commit; a trailing ^ selects the parent")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("B", diff.after,
                     "The commit to compare A with; without it, A is compared with its parent")
        ->type_name("COMMIT");
    verb->add_option("--repo", diff.repo,
                     "ostree repository of both commits (default: repo, in the working directory)")
        ->type_name("DIR");
    verb->add_flag("--files", diff.all_files, "List all files, not only the largest");
}

void add_cache(CLI::App& app, CacheCommand& cache) {
    CLI::App* verb = app.add_subcommand(
        "cache", "Show the contents of the cache, or remove entries that are no longer used");
    verb->add_option("ACTION", cache.action,
                     "prune: remove entries beyond the limits below; safe while builds run")
        ->check(one_of({"prune"}))
        ->type_name("prune");
    add_cache_dir(*verb, cache.cache_dir);
    verb->add_option("--max-size", cache.max_size,
                     "Remove the least recently used entries until the cache is no larger than "
                     "this, such as 20G or 500M")
        ->type_name("SIZE")
        ->check(size_text());
    verb->add_option("--unused-for", cache.unused_for,
                     "Remove entries that have not been used for this long, such as 30d or 12h")
        ->type_name("TIME")
        ->check(duration_text());
    verb->add_flag("--dry-run", cache.dry_run, "Remove nothing, only show what would be removed");
}

void add_all(CLI::App& app, Arguments& arguments) {
    app.footer(footer);
    app.require_subcommand(0, 1);
    app.fallthrough();
    app.set_help_flag("-h,--help", "Print this help, or that of a command, and exit");
    app.set_version_flag("--version", std::string("edgegpu ") + EDGEGPU_VERSION,
                         "Print the version and exit");
    app.get_formatter()->label("REQUIRED", "");
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.get_formatter()->label("BLUEPRINT", "FILE");
    add_global(app, arguments.global);
    add_build(app, arguments.build);
    add_resolve(app, arguments.resolve);
    add_why(app, arguments.why);
    add_diff(app, arguments.diff);
    add_check(app, arguments.check);
    add_cache(app, arguments.cache);
    app.add_subcommand(
           "gpus", "List NVIDIA GPUs with the driver branches and kernel modules that support them")
        ->add_option("GPU", arguments.gpu,
                     "PCI id (10de:20b7) or part of a name (default: all GPUs)")
        ->type_name("ID|NAME");
    app.add_subcommand("completion", "Print a completion script for a shell")
        ->add_option("SHELL", arguments.shell, "The shell")
        ->required()
        ->check(one_of({"bash", "zsh", "fish"}))
        ->type_name("bash|zsh|fish");
    app.add_subcommand("manual", "Print the manual page edgegpu(1), for man -l -");
    for (CLI::App* verb : app.get_subcommands({})) {
        verb->group("Commands");
        verb->footer("The options of edgegpu itself can be given here, too: see edgegpu --help.");
    }
}

/// The options of `app` that the command line had, as it could have them again.
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

/// What each of several builds is told: everything but what makes their results one.
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
std::string build_name(const std::string& verb, const Arguments& arguments) {
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

int run_verb(const CLI::App& app, const std::string& verb, const Arguments& arguments,
             const RunningCommand& running) {
    if (verb == "build") {
        return run_build(arguments.global, arguments.build);
    }
    if (verb == "resolve") {
        return run_resolve(arguments.global, arguments.resolve);
    }
    if (verb == "why") {
        return run_why(arguments.global, arguments.why);
    }
    if (verb == "diff") {
        return run_diff(arguments.global, arguments.diff);
    }
    if (verb == "check") {
        return run_check(arguments.global, arguments.check, running);
    }
    if (verb == "cache") {
        return run_cache(arguments.global, arguments.cache);
    }
    if (verb == "gpus") {
        return run_gpus(arguments.global, arguments.gpu);
    }
    print_result(verb == "completion" ? completion_script(describe_interface(app), arguments.shell)
                                      : manual_page(describe_interface(app)));
    return 0;
}

}  // namespace

int run_command_line(int argc, char** argv, RunningCommand& running) {
    CLI::App app(description, "edgegpu");
    Arguments arguments;
    add_all(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        return app.exit(help_or_version);
    } catch (const CLI::ParseError& failure) {
        // What was read until then does not say: an option behind the mistake counts, too.
        running.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
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
