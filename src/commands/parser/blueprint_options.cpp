// The options of the commands that read a blueprint (options.hpp).
#include <filesystem>
#include <string>

#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

void add_cache_options(CLI::App& verb, std::filesystem::path& cache_dir, bool& offline) {
    add_cache_dir(verb, cache_dir);
    verb.add_flag("--offline", offline,
                  "Do not use the network: use what is in the cache, or fail");
}

/// What the command line may add to a blueprint.
void add_blueprint_options(CLI::App& verb, BlueprintOptions& inputs) {
    verb.add_option("--repository-file", inputs.repository_files,
                    "A .repo file whose repositories are added to the blueprint's; can be given "
                    "several times. Without any repository, this machine's are used "
                    "(/etc/yum.repos.d) if it has the image's distribution")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb.add_option("--distro", inputs.distro,
                    "Distribution of the image, such as rhel-9.4, centos-9 or fedora-40 (default: "
                    "distro in the blueprint, else this machine's)")
        ->type_name("NAME-VERSION");
    add_parameter_options(verb, inputs.parameters);
}

void add_explain_option(CLI::App& verb, bool& explain) {
    verb.add_flag("--explain", explain,
                  "If the blueprint cannot be solved, print the whole proof of the solver");
}

}  // namespace

void add_parameter_options(CLI::App& verb, GivenParameters& parameters, CLI::Option* blueprint) {
    for (CLI::Option* option :
         {verb.add_option("--set", parameters.set,
                          "Value of a parameter of the blueprint; elements of an array with commas "
                          "between them; can be given several times")
              ->type_name("NAME=VALUE"),
          verb.add_option("--parameters", parameters.files,
                          "TOML file with values of parameters of the blueprint, NAME = VALUE; can "
                          "be given several times: later ones take precedence, and --set over all")
              ->type_name("FILE")}) {
        option->allow_extra_args(false);
        if (blueprint != nullptr) {
            option->needs(blueprint);
        }
    }
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
    CLI::Option* lock =
        verb->add_option("--lock", build.lockfile,
                         "Lockfile to write, or to read with --locked (default: beside the "
                         "blueprint, its name with .lock; with --set or --parameters, name and "
                         "ref)")
            ->type_name("FILE");
    verb->add_option("--lock-dir", build.lock_dir,
                     "Directory of lockfiles with their default names, also of several blueprints "
                     "(default: that of each blueprint)")
        ->type_name("DIR")
        ->check(not_empty())
        ->excludes(lock);
    verb->add_flag("--locked", build.locked, "Build exactly the packages of the lockfile, or fail");
    add_explain_option(*verb, build.explain);
    verb->add_flag("--unchanged-exit-77", build.unchanged_exit_77,
                   "Exit with status 77 if the ref keeps its commit: nothing has changed");
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
    verb->add_option("--max-upgrade-bytes", build.max_upgrade_bytes,
                     "Fail, and leave the ref as it is, if a device with the parent commit would "
                     "have to download more than this, such as 200M, without a static delta "
                     "(default: no limit)")
        ->type_name("SIZE")
        ->check(size_text());
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
                         "Write the lockfile to this file; with --keep or --update, read it first")
            ->type_name("FILE");
    verb->add_flag("--keep", resolve.keep,
                   "Keep what is locked: resolve only what the blueprint requests anew, and drop "
                   "what it no longer needs")
        ->needs(lock);
    verb->add_option(
            "--update", resolve.update,
            "Update or add only these packages and container images (all, if none is named) and "
            "keep the rest as locked")
        ->type_name("PACKAGE")
        ->expected(0, -1)
        ->needs(lock);
    verb->add_option("--against", resolve.against,
                     "Show the changes since a lockfile, or since a ref of --repo, first")
        ->type_name("LOCK|REF");
    verb->add_flag("--changes-only", resolve.changes_only,
                   "Show only what changes, since --against or else since the lockfile");
    verb->add_flag("--dry-run", resolve.dry_run, "Leave the lockfile as it is")->needs(lock);
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
    verb->add_flag("--print", check.print,
                   "Print the blueprint as one TOML file, with what it extends and its parameters "
                   "replaced; behind each value is the file and line that has it");
}

}  // namespace edgegpu
