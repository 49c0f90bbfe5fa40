#include "commands/cli.hpp"

#include <map>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"

namespace edgegpu {

namespace {

constexpr const char* description =
    "Composes immutable edge operating-system images with GPUs: resolves driver and container\n"
    "toolkit RPMs, assembles the tree, compiles the SELinux policy and commits an ostree ref.";

constexpr const char* footer =
    "Exit status: 0 done; 1 failure; 2 usage or invalid blueprint; 3 unsolvable;\n"
    "4 fetch or verification; 77 unchanged (with --unchanged-exit-77); 130 interrupted.\n"
    "Result on stdout, everything else on stderr. NO_COLOR is honoured.";

void add_cache_options(CLI::App& verb, std::filesystem::path& cache_dir, bool& offline) {
    verb.add_option("--cache-dir", cache_dir,
                    "Where downloads and intermediate results are kept "
                    "(default: $XDG_CACHE_HOME/edgegpu or ~/.cache/edgegpu)")
        ->type_name("DIR");
    verb.add_flag("--offline", offline, "Touch no network: use what the cache holds, or fail");
}

void add_build(CLI::App& app, BuildCommand& build) {
    CLI::App* verb = app.add_subcommand(
        "build", "Build the image of a blueprint and commit it to an ostree repository");
    verb->add_option("BLUEPRINT", build.blueprint, "Blueprint file (TOML)")->required();
    verb->add_option("--repo", build.repo,
                     "ostree repository (mode archive); made where it does not exist")
        ->type_name("DIR")
        ->capture_default_str();
    add_cache_options(*verb, build.cache_dir, build.offline);
    verb->add_option("--lock", build.lockfile,
                     "Lockfile to write, or to read with --locked (default: the blueprint's "
                     "name with .lock, beside the repository)")
        ->type_name("FILE");
    verb->add_flag("--locked", build.locked, "Build exactly the lockfile's packages, or fail");
    verb->add_flag("--unchanged-exit-77", build.unchanged_exit_77,
                   "Exit with 77 when the inputs are those of the last commit");
    verb->add_option("--jobs", build.jobs, "Worker threads (default: one a processor)")
        ->type_name("N")
        ->check(CLI::Range(1, 256));
}

void add_resolve(CLI::App& app, ResolveCommand& resolve) {
    CLI::App* verb =
        app.add_subcommand("resolve", "Show the packages a blueprint leads to, and why");
    verb->add_option("BLUEPRINT", resolve.blueprint, "Blueprint file (TOML)")->required();
    add_cache_options(*verb, resolve.cache_dir, resolve.offline);
    verb->add_option("--lock", resolve.lockfile, "Write the lockfile there")->type_name("FILE");
}

}  // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app(description, "edgegpu");
    app.footer(footer);
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", std::string("edgegpu ") + EDGEGPU_VERSION);

    GlobalOptions global;
    const std::map<std::string, Color> colors = {
        {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};
    app.add_option("--color", global.color, "Colour messages: auto, always or never")
        ->transform(CLI::CheckedTransformer(colors))
        ->type_name("WHEN");
    app.add_flag("-q,--quiet", global.quiet, "Warnings and errors only");
    app.add_flag("--json", global.json, "Print the result as one JSON document");

    BuildCommand build;
    add_build(app, build);
    ResolveCommand resolve;
    add_resolve(app, resolve);
    std::vector<std::filesystem::path> to_check;
    app.add_subcommand("check", "Validate blueprints, as far as that needs no network")
        ->add_option("BLUEPRINT", to_check, "Blueprint files (TOML)")
        ->required();

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& failure) {
        return app.exit(failure) == 0 ? 0 : 2;
    }
    if (app.got_subcommand("build")) {
        return run_build(global, build);
    }
    if (app.got_subcommand("resolve")) {
        return run_resolve(global, resolve);
    }
    return run_check(global, to_check);
}

}  // namespace edgegpu
