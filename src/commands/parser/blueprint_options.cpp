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
    add_value(verb, "--repository-file", inputs.repository_files, "FILE",
              "A .repo file whose repositories are added to the blueprint's; can be given "
              "several times. Without any repository, this machine's are used "
              "(/etc/yum.repos.d) if it has the image's distribution")
        ->allow_extra_args(false);
    add_value(verb, "--distro", inputs.distro, "NAME-VERSION",
              "Distribution of the image, such as rhel-9.4, centos-9 or fedora-40 (default: "
              "distro in the blueprint, else this machine's)");
    add_parameter_options(verb, inputs.parameters);
}

void add_explain_option(CLI::App& verb, bool& explain) {
    verb.add_flag("--explain", explain,
                  "If the blueprint cannot be solved, print the whole proof of the solver");
}

}  // namespace

void add_parameter_options(CLI::App& verb, GivenParameters& parameters, CLI::Option* blueprint) {
    for (CLI::Option* option :
         {add_value(verb, "--set", parameters.set, "NAME=VALUE",
                    "Value of a parameter of the blueprint; elements of an array with commas "
                    "between them; can be given several times"),
          add_value(verb, "--parameters", parameters.files, "FILE",
                    "TOML file with values of parameters of the blueprint, NAME = VALUE; can "
                    "be given several times: later ones take precedence, and --set over all")}) {
        option->allow_extra_args(false);
        if (blueprint != nullptr) {
            option->needs(blueprint);
        }
    }
}

void add_build(CLI::App& app, BuildCommand& build) {
    CLI::App* verb = app.add_subcommand(
        "build", "Build the image of a blueprint and commit it to an ostree repository");
    add_value(*verb, "BLUEPRINT", build.blueprints, "BLUEPRINT",
              "Blueprint file (TOML); several are built in parallel and share the cache; a build "
              "that fails does not stop the others")
        ->required();
    add_value(*verb, "--repo", build.repo, "DIR",
              "ostree repository (mode archive); created if it does not exist "
              "(default: repo, in the working directory)");
    add_blueprint_options(*verb, build.inputs);
    add_cache_options(*verb, build.cache_dir, build.offline);
    CLI::Option* lock =
        add_value(*verb, "--lock", build.lockfile, "FILE",
                  "Lockfile to write, or to read with --locked (default: beside the "
                  "blueprint, its name with .lock; with --set or --parameters, name and "
                  "ref)");
    add_nonempty(*verb, "--lock-dir", build.lock_dir, "DIR",
                 "Directory of lockfiles with their default names, also of several blueprints "
                 "(default: that of each blueprint)")
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
        ->check(one_of("fast|default|best"))
        ->type_name("fast|default|best");
    add_size(*verb, "--max-upgrade-bytes", build.max_upgrade_bytes,
             "Fail, and leave the ref as it is, if a device with the parent commit would "
             "have to download more than this, such as 200M, without a static delta "
             "(default: no limit)");
    add_value(*verb, "--jobs", build.jobs, "N",
              "Number of worker threads; with several blueprints, number of parallel builds, "
              "which share the processors (default: number of processors)")
        ->check(number_in(1, 256));
    add_value(*verb, "--program-timeout", build.program_timeout, "SECONDS",
              "Time limit for each program of the image, such as a scriptlet or dracut; six "
              "times as long for compiling kernel modules; 0: no limit (default: 600)")
        ->check(number_in(0, 86400));
    add_size(*verb, "--cache-max-size", build.cache_max_size,
             "After the build, remove the least recently used entries until the cache is no "
             "larger than this, such as 20G or 500M (default: remove nothing)");
}

void add_resolve(CLI::App& app, ResolveCommand& resolve) {
    CLI::App* verb =
        app.add_subcommand("resolve", "Show the packages of an image, and why each is included");
    add_value(*verb, "BLUEPRINT", resolve.blueprint, "BLUEPRINT", "Blueprint file (TOML)")
        ->required();
    add_blueprint_options(*verb, resolve.inputs);
    add_cache_options(*verb, resolve.cache_dir, resolve.offline);
    CLI::Option* lock =
        add_value(*verb, "--lock", resolve.lockfile, "FILE",
                  "Write the lockfile to this file; with --keep or --update, read it first");
    verb->add_flag("--keep", resolve.keep,
                   "Keep what is locked: resolve only what the blueprint requests anew, and drop "
                   "what it no longer needs")
        ->needs(lock);
    add_value(*verb, "--update", resolve.update, "PACKAGE",
              "Update or add only these packages and container images (all, if none is named) and "
              "keep the rest as locked")
        ->expected(0, -1)
        ->needs(lock);
    add_value(*verb, "--against", resolve.against, "LOCK|REF",
              "Show the changes since a lockfile, or since a ref of --repo, first");
    verb->add_flag("--changes-only", resolve.changes_only,
                   "Show only what changes, since --against or else since the lockfile");
    verb->add_flag("--dry-run", resolve.dry_run, "Leave the lockfile as it is")->needs(lock);
    add_value(*verb, "--repo", resolve.repo, "DIR",
              "ostree repository for --against (default: repo, in the working directory)");
    add_explain_option(*verb, resolve.explain);
}

void add_why(CLI::App& app, WhyCommand& why) {
    CLI::App* verb = app.add_subcommand(
        "why", "Show which dependencies pull a package into the image, or what keeps it out");
    add_value(*verb, "BLUEPRINT", why.blueprint, "BLUEPRINT", "Blueprint file (TOML)")->required();
    add_value(*verb, "PACKAGE", why.package, "PACKAGE",
              "Name, NEVRA or glob of a package, a capability that packages provide, or a path")
        ->required();
    add_blueprint_options(*verb, why.inputs);
    add_cache_options(*verb, why.cache_dir, why.offline);
}

void add_check(CLI::App& app, CheckCommand& check) {
    CLI::App* verb = app.add_subcommand("check", "Validate blueprints without network access");
    add_value(*verb, "BLUEPRINT", check.blueprints, "BLUEPRINT", "Blueprint files (TOML)")
        ->required();
    add_blueprint_options(*verb, check.inputs);
    verb->add_flag("--print", check.print,
                   "Print the blueprint as one TOML file, with what it extends and its parameters "
                   "replaced; behind each value is the file and line that has it");
}

void add_openshift(CLI::App& app, OpenshiftCommand& openshift) {
    CLI::App* verb = app.add_subcommand(
        "openshift", "Write the objects that bring an image to the nodes of an OpenShift cluster");
    add_value(*verb, "BLUEPRINT", openshift.blueprint, "BLUEPRINT",
              "Blueprint file (TOML) with [openshift]")
        ->required();
    add_blueprint_options(*verb, openshift.inputs);
    add_value(*verb, "--digest", openshift.digest, "SHA256",
              "Digest of the image in its registry, as edgegpu image --type oci prints it")
        ->required();
    add_nonempty(*verb, "--output", openshift.output, "DIR",
                 "New directory for the objects; oc apply -k takes it")
        ->required();
    add_value(*verb, "--repo", openshift.repo, "DIR",
              "ostree repository with the commit (default: repo, in the working directory)");
    add_value(*verb, "--commit", openshift.commit, "COMMIT",
              "The commit that the image was made from (default: the blueprint's ref)");
    verb->add_flag("--no-registry", openshift.unchecked,
                   "Do not ask the registry whether it has the image, made from this commit, and "
                   "whether nodes take it");
}

}  // namespace edgegpu
