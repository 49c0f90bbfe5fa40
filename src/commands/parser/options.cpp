#include "commands/parser/options.hpp"

#include <cstdint>
#include <filesystem>

#include "commands/parser/option_values.hpp"

namespace edgegpu {

namespace {

constexpr const char* footer =
    "Exit status: 0 success; 1 failure; 2 wrong usage or invalid blueprint; 3 unsolvable;\n"
    "4 download or verification failed; 76 rollout paused (rollout check);\n"
    "77 unchanged (with --unchanged-exit-77);\n"
    "130 interrupted. The result goes to stdout, everything else to stderr. NO_COLOR is honoured.";

void add_log_options(CLI::App& app, GlobalOptions& global) {
    add_value(app, "--log", global.log_file, "FILE",
              "Append log records to this file: decisions, programs with their whole output, "
              "requests; "
              "without passwords and keys");
    add_choice(app, "--log-format", global.log_format,
               {{"text", LogFormat::text}, {"json", LogFormat::json}},
               "Format of log files; json: one object per line (default: text)");
    add_choice(app, "--log-level", global.log_level,
               {{"error", LogLevel::error},
                {"warning", LogLevel::warning},
                {"info", LogLevel::info},
                {"debug", LogLevel::debug}},
               "Show log records up to this level on stderr");
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
    add_choice(app, "--color", global.color,
               {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}},
               "Colour messages; auto: on a terminal, unless NO_COLOR is set (default: auto)");
    app.add_flag("-q,--quiet", global.quiet, "Show warnings and errors only")
        ->excludes(app.get_option("--verbose"), app.get_option("--log-level"));
    app.add_flag("--json", global.json, "Print the result as one JSON document");
    add_value(app, "--progress-fd", global.progress_fd, "N",
              "Write progress events as JSON Lines to this open file descriptor")
        ->check(number_in(0, 1 << 20));
}

void add_init(CLI::App& app, InitCommand& init) {
    CLI::App* verb = app.add_subcommand("init", "Write a first blueprint, from what is told here");
    add_value(*verb, "FILE", init.blueprint, "FILE",
              "The blueprint; its name is that of the image (default: edge.toml)");
    add_value(*verb, "--distro", init.distro, "NAME-VERSION",
              "Distribution of the image, such as rhel-9.4")
        ->required();
    add_value(*verb, "--repository-file", init.repository_files, "FILE",
              ".repo file with the image's repositories; can be given several times")
        ->allow_extra_args(false);
    add_value(*verb, "--gpu", init.gpus, "ID|NAME",
              "PCI id or name of a GPU of the devices; can be given several times")
        ->allow_extra_args(false);
    add_value(*verb, "--driver", init.driver, "BRANCH",
              "Branch or version of the driver, such as 570 (default: latest)");
    add_choice(*verb, "--workload", init.workload, "podman|microshift|none",
               "What runs on the devices: containers of podman or of MicroShift, or programs "
               "of the image (default: podman)");
    add_value(*verb, "--user", init.user, "NAME",
              "Who may log in, and use sudo (default: operator)");
    add_value(*verb, "--key", init.key, "FILE", "File with the public SSH key of this user")
        ->required();
}

void add_diff(CLI::App& app, DiffCommand& diff) {
    CLI::App* verb = app.add_subcommand(
        "diff", "Show the differences between two commits, from packages to policy rules");
    add_value(*verb, "A", diff.before, "COMMIT",
              "Ref, checksum or abbreviated checksum of a commit; a trailing ^ selects the parent")
        ->required();
    add_value(*verb, "B", diff.after, "COMMIT",
              "The commit to compare A with; without it, A is compared with its parent");
    add_value(*verb, "--repo", diff.repo, "DIR",
              "ostree repository of both commits (default: repo, in the working directory)");
    CLI::Option* files =
        verb->add_flag("--files", diff.all_files, "List all files, not only the largest");
    verb->add_flag("--markdown", diff.markdown, "Print Markdown, as release notes of B")
        ->excludes(files);
}

void add_cache(CLI::App& app, CacheCommand& cache) {
    CLI::App* verb = app.add_subcommand(
        "cache", "Show the contents of the cache, or remove entries that are no longer used");
    add_choice(*verb, "ACTION", cache.action, "prune",
               "prune: remove entries beyond the limits below; safe while builds run");
    add_cache_dir(*verb, cache.cache_dir);
    add_size(*verb, "--max-size", cache.max_size,
             "Remove the least recently used entries until the cache is no larger than "
             "this, such as 20G or 500M");
    add_value(*verb, "--unused-for", cache.unused_for, "TIME",
              "Remove entries that have not been used for this long, such as 30d or 12h")
        ->check(duration_text());
    verb->add_flag("--dry-run", cache.dry_run, "Remove nothing, only show what would be removed");
}

void add_package_driver(CLI::App& app, PackageDriverCommand& package) {
    CLI::App* verb = app.add_subcommand("package-driver",
                                        "Make a repository of RPM packages of NVIDIA's run file");
    add_value(*verb, "FILE", package.run_file, "FILE",
              "NVIDIA-Linux-x86_64-VERSION.run, or …-grid.run for guests with a virtual GPU")
        ->required();
    add_nonempty(*verb, "--output", package.output, "DIR",
                 "Directory of the repository, which is created")
        ->required();
}

}  // namespace

void add_cache_dir(CLI::App& verb, std::filesystem::path& cache_dir) {
    add_value(verb, "--cache-dir", cache_dir, "DIR",
              "Directory for downloads and intermediate results "
              "(default: $XDG_CACHE_HOME/edgegpu or ~/.cache/edgegpu)");
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
    add_rollout(app, arguments.rollout);
    add_export(app, arguments.exported);
    add_openshift(app, arguments.openshift);
    add_check(app, arguments.check);
    add_test(app, arguments.test);
    add_cache(app, arguments.cache);
    add_package_driver(app, arguments.package_driver);
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
    add_choice(*completion, "SHELL", arguments.completed, "bash|zsh|fish|commits|bundles|gpus",
               "The shell; commits, bundles, gpus: the refs of a repository, the shipped "
               "bundles, parts of the names of GPUs")
        ->required();
    add_value(*completion, "--repo", arguments.completed_repo, "DIR",
              "ostree repository of commits (default: repo, in the working directory)");
    app.add_subcommand("manual", "Print the manual page edgegpu(1), for man -l -");
    for (CLI::App* verb : app.get_subcommands({})) {
        verb->group("Commands");
        verb->footer("The options of edgegpu itself can be given here, too: see edgegpu --help.");
    }
}

}  // namespace edgegpu
