#include "commands/parser/options.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/parser/option_values.hpp"

namespace edgegpu {

namespace {

constexpr const char* footer =
    "Exit status: 0 success; 1 failure; 2 wrong usage or invalid blueprint; 3 unsolvable;\n"
    "4 download or verification failed; 77 unchanged (with --unchanged-exit-77);\n"
    "130 interrupted. The result goes to stdout, everything else to stderr. NO_COLOR is honoured.";

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

void add_init(CLI::App& app, InitCommand& init) {
    CLI::App* verb = app.add_subcommand("init", "Write a first blueprint, from what is told here");
    verb->add_option("FILE", init.blueprint,
                     "The blueprint; its name is that of the image (default: edge.toml)")
        ->type_name("FILE");
    verb->add_option("--distro", init.distro, "Distribution of the image, such as rhel-9.4")
        ->required()
        ->type_name("NAME-VERSION");
    verb->add_option("--repository-file", init.repository_files,
                     ".repo file with the image's repositories; can be given several times")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb->add_option("--gpu", init.gpus,
                     "PCI id or name of a GPU of the devices; can be given several times")
        ->type_name("ID|NAME")
        ->allow_extra_args(false);
    verb->add_option("--driver", init.driver,
                     "Branch or version of the driver, such as 570 (default: latest)")
        ->type_name("BRANCH");
    verb->add_option("--workload", init.workload,
                     "What runs on the devices: containers of podman or of MicroShift, or programs "
                     "of the image (default: podman)")
        ->type_name("podman|microshift|none")
        ->check(one_of({"podman", "microshift", "none"}));
    verb->add_option("--user", init.user, "Who may log in, and use sudo (default: operator)")
        ->type_name("NAME");
    verb->add_option("--key", init.key, "File with the public SSH key of this user")
        ->required()
        ->type_name("FILE");
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
    CLI::Option* files =
        verb->add_flag("--files", diff.all_files, "List all files, not only the largest");
    verb->add_flag("--markdown", diff.markdown, "Print Markdown, as release notes of B")
        ->excludes(files);
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

}  // namespace

void add_cache_dir(CLI::App& verb, std::filesystem::path& cache_dir) {
    verb.add_option("--cache-dir", cache_dir,
                    "Directory for downloads and intermediate results "
                    "(default: $XDG_CACHE_HOME/edgegpu or ~/.cache/edgegpu)")
        ->type_name("DIR");
}

void add_options(CLI::App& app, CommandLine& arguments) {
    app.footer(footer);
    app.require_subcommand(0, 1);
    app.fallthrough();
    app.set_help_flag("-h,--help", "Print this help, or the help of a command, and exit");
    app.set_version_flag("--version", std::string("edgegpu ") + EDGEGPU_VERSION,
                         "Print the version and exit");
    app.get_formatter()->label("REQUIRED", "");
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.get_formatter()->label("BLUEPRINT", "FILE");
    add_global(app, arguments.global);
    add_init(app, arguments.init);
    add_build(app, arguments.build);
    add_resolve(app, arguments.resolve);
    add_why(app, arguments.why);
    add_diff(app, arguments.diff);
    add_image(app, arguments.image);
    add_publish(app, arguments.publish);
    add_promote(app, arguments.promote);
    add_channels(app, arguments.channels);
    add_fsck(app, arguments.fsck);
    add_prune(app, arguments.prune);
    add_upload(app, arguments.upload);
    add_export(app, arguments.exported);
    add_check(app, arguments.check);
    add_test(app, arguments.test);
    add_cache(app, arguments.cache);
    add_cache_dir(*app.add_subcommand("doctor",
                                      "Try what builds, images and tests need of this machine, and "
                                      "say what to do about what it lacks"),
                  arguments.doctor_cache_dir);
    app.add_subcommand(
           "gpus", "List NVIDIA GPUs with the driver branches and kernel modules that support them")
        ->add_option("GPU", arguments.gpu,
                     "PCI id (10de:20b7) or part of a name (default: all GPUs)")
        ->type_name("ID|NAME");
    app.add_subcommand(
           "bundles",
           "List the shipped bundles of Kubernetes manifests, or print what a bundle renders to")
        ->add_option("BUNDLE", arguments.bundle,
                     "Name of a shipped bundle, or path of a directory, with a slash (default: "
                     "list the shipped bundles)")
        ->type_name("NAME|DIR");
    app.add_subcommand("help", "Print the help of a command, as its --help does")
        ->add_option("COMMAND", arguments.explained, "The command (default: edgegpu itself)")
        ->type_name("COMMAND");
    CLI::App* completion = app.add_subcommand(
        "completion", "Print a completion script for a shell, or words that such a script offers");
    completion
        ->add_option("SHELL", arguments.completed,
                     "The shell; commits, bundles, gpus: the refs of a repository, the shipped "
                     "bundles, parts of the names of GPUs")
        ->required()
        ->check(one_of({"bash", "zsh", "fish", "commits", "bundles", "gpus"}))
        ->type_name("bash|zsh|fish|commits|bundles|gpus");
    completion
        ->add_option("--repo", arguments.completed_repo,
                     "ostree repository of commits (default: repo, in the working directory)")
        ->type_name("DIR");
    app.add_subcommand("manual", "Print the manual page edgegpu(1), for man -l -");
    for (CLI::App* verb : app.get_subcommands({})) {
        verb->group("Commands");
        verb->footer("The options of edgegpu itself can be given here, too: see edgegpu --help.");
    }
}

}  // namespace edgegpu
