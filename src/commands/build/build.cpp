#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "blueprint/distro/edge_package_set.hpp"
#include "blueprint/known_secrets.hpp"
#include "blueprint/parse/parse.hpp"
#include "commands/build/builds.hpp"
#include "commands/build_paths.hpp"
#include "commands/commands.hpp"
#include "commit/device_key.hpp"
#include "commit/signing_request.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "log/build_log.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/pipeline.hpp"
#include "sandbox/user_namespace.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/quantity.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

std::filesystem::path cache_directory(const std::filesystem::path& wanted, CacheAccess access) {
    std::filesystem::path chosen = wanted;
    if (chosen.empty()) {
        const char* xdg = std::getenv("XDG_CACHE_HOME");
        const char* home = std::getenv("HOME");
        if (xdg != nullptr && *xdg == '/') {
            chosen = std::filesystem::path(xdg) / "edgegpu";
        } else if (home != nullptr && *home == '/') {
            chosen = std::filesystem::path(home) / ".cache/edgegpu";
        } else {
            throw Error(ErrorKind::usage, "no place for the cache: HOME is not set")
                .hinted(
                    "set HOME or XDG_CACHE_HOME (a service of systemd has neither by itself); "
                    "--cache-dir of some commands names a directory");
        }
    }
    return open_cache(chosen, access);
}

namespace {

/// Ids of the repositories whose metadata are not verified, and whose packages are or are not.
std::vector<std::string> unverified(const std::vector<Repository>& repositories, bool packages) {
    std::vector<std::string> ids;
    for (const Repository& repository : repositories) {
        if (repository.enabled && !repository.repo_gpgcheck && repository.gpgcheck == packages) {
            ids.push_back(repository.id);
        }
    }
    return ids;
}

/// Red Hat signs packages but not metadata: that is accepted, with a note.
void note_unchecked_metadata(const std::vector<Repository>& repositories, Console& console) {
    const std::vector<std::string> ids = unverified(repositories, true);
    if (!ids.empty()) {
        console.note(
            fmt::format("packages are verified by their signatures, but not the metadata "
                        "(repo_gpgcheck is off): {}",
                        fmt::join(ids, ", ")));
    }
}

}  // namespace

ReadBlueprint read_checked_document(const GlobalOptions& global, const std::filesystem::path& path,
                                    const BlueprintOptions& inputs) {
    ReadBlueprint read = load_with_document(path, inputs);
    Blueprint& blueprint = read.blueprint;
    for (std::string& warning : DeviceKey(blueprint, std::time(nullptr)).warnings()) {
        blueprint.warnings.push_back(std::move(warning));
    }
    add_secrets(blueprint, global.log.secrets());
    return read;
}

Blueprint read_checked_blueprint(const GlobalOptions& global, const std::filesystem::path& path,
                                 const BlueprintOptions& inputs) {
    return read_checked_document(global, path, inputs).blueprint;
}

void show_remarks(const Blueprint& blueprint, Console& console) {
    for (const std::string& warning : blueprint.warnings) {
        console.warn(warning);
    }
    for (const std::string& note : blueprint.notes) {
        console.note(note);
    }
    note_unchecked_metadata(blueprint.repositories, console);
}

ConsoleOutput console_output(const GlobalOptions& global) {
    ConsoleOutput output = standard_error(global.color, global.quiet, global.progress_fd);
    output.log = global.log;
    output.log_level = global.log_level;
    return output;
}

Context command_context(const GlobalOptions& global, Console& console) {
    Context ctx;
    ctx.log = global.log;
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.jobs = available_processors();
    return ctx;
}

Context context_with_cache(const GlobalOptions& global, Console& console,
                           const std::filesystem::path& cache_dir) {
    Context ctx = command_context(global, console);
    ctx.cache = cache_directory(cache_dir);
    return ctx;
}

namespace {

/// Values that both the document and the summary show.
struct Totals {
    /// of the image
    std::size_t packages = 0;
    /// bytes of those that were not made by this build
    std::uint64_t download = 0;
    double seconds = 0;
    /// of edgegpu itself, not of the programs it runs
    long peak_rss_mib = 0;
};

Totals totals_of(const BuildResult& result, const Console& console) {
    Totals totals;
    // Compiled kernel modules are a package of the image, too.
    totals.packages = result.resolution.packages.size() + (result.resolution.dkms_source ? 1 : 0);
    for (const ResolvedPackage& package : result.resolution.packages) {
        totals.download += package.size;
    }
    for (const StageTime& stage : console.stage_times()) {
        totals.seconds += stage.seconds;
    }
    struct rusage usage {};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        totals.peak_rss_mib = usage.ru_maxrss / 1024;
    }
    return totals;
}

nlohmann::ordered_json images_document(const Resolution& resolution) {
    nlohmann::ordered_json images = nlohmann::ordered_json::array();
    for (const ResolvedImage& image : resolution.images) {
        images.push_back({{"name", image.name},
                          {"source", image.source},
                          {"digest", "sha256:" + image.digest},
                          {"bytes", image.size}});
    }
    return images;
}

/// docs/schemas/build.json
std::string json_document(const BuildResult& result, const Blueprint& blueprint,
                          const BuildOptions& options, const Console& console) {
    using nlohmann::ordered_json;
    const Totals totals = totals_of(result, console);
    ordered_json stages = ordered_json::array();
    for (const StageTime& stage : console.stage_times()) {
        stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    }
    const Commit& commit = result.commit;
    ordered_json document = {{"format", "edgegpu-build/1"},
                             {"unchanged", result.commit.unchanged},
                             {"repository", options.repo.string()},
                             {"lockfile", options.lockfile.string()},
                             {"ref", commit.ref},
                             {"commit", commit.checksum},
                             {"version", commit.version},
                             {"kernel", result.resolution.kernel_uname},
                             {"driver", result.resolution.driver_version},
                             {"package_set", describe_package_set(blueprint.package_set)},
                             {"packages", totals.packages},
                             {"package_bytes", totals.download},
                             {"unverified_repositories", unverified(blueprint.repositories, false)},
                             {"images", images_document(result.resolution)},
                             {"image_bytes", total_bytes(result.resolution.images)}};
    // What is only known from writing a commit is left out if none was written.
    if (!commit.unchanged) {
        document.update({{"parent", commit.parent},
                         {"signed", commit.is_signed},
                         {"files", commit.files},
                         {"bytes", commit.size},
                         {"new_objects", commit.new_objects},
                         {"new_bytes", commit.new_bytes}});
    }
    document.update({{"seconds", totals.seconds},
                     {"peak_rss_mib", totals.peak_rss_mib},
                     {"stages", stages},
                     {"warnings", console.warnings()}});
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string row(std::string_view name, std::string_view value) {
    return fmt::format("  {:<11}{}\n", name, printable_line(value));
}

std::string stage_list(const Console& console) {
    std::vector<std::string> parts;
    for (const StageTime& stage : console.stage_times()) {
        parts.push_back(fmt::format("{} {:.1f}", stage.name, stage.seconds));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string kernel_and_driver(const Resolution& resolution) {
    return resolution.driver_version.empty()
               ? resolution.kernel_uname + ", no NVIDIA driver"
               : fmt::format("{} with NVIDIA driver {}", resolution.kernel_uname,
                             resolution.driver_version);
}

/// The path as one would type it here: relative if that is shorter.
std::string typed(const std::filesystem::path& path) {
    const std::string relative = path.lexically_relative(std::filesystem::current_path()).string();
    return relative.empty() || relative.size() >= path.string().size() ? path.string() : relative;
}

/// One line for each container image, and one for all.
std::string image_rows(const Resolution& resolution) {
    constexpr std::size_t shown_digits = 12;
    std::string rows;
    if (resolution.images.size() > 1) {
        rows = row("containers",
                   fmt::format("{}, {} in all", plural(resolution.images.size(), "image"),
                               human_size(total_bytes(resolution.images))));
    }
    for (const ResolvedImage& image : resolution.images) {
        rows += row(rows.empty() ? "containers" : "",
                    fmt::format("{}, {}, sha256:{}", image.name, human_size(image.size),
                                image.digest.substr(0, shown_digits)));
    }
    return rows;
}

/// Whose packages nobody has verified; empty if there are none.
std::string unverified_row(const Blueprint& blueprint) {
    const std::vector<std::string> ids = unverified(blueprint.repositories, false);
    return ids.empty()
               ? ""
               : row("unverified", fmt::format("packages of {}: gpgcheck and repo_gpgcheck are off",
                                               fmt::join(ids, ", ")));
}

/// What comes after a build, as commands that can be typed. `repo` is a word of the shell.
std::string next_steps(const std::string& ref, const std::string& repo, const std::string& url) {
    const std::string name = ref.substr(ref.rfind('/') + 1);
    const std::string place = url.empty() ? "at the [ostree] url of the devices" : "at " + url;
    return fmt::format(
        "\nNext:\n"
        "  edgegpu test {0} --repo {1}  # boots it in QEMU and checks it\n"
        "  edgegpu image {0} --repo {1} --type qcow2 --output {2}.qcow2  # a disk that boots\n"
        "  python3 -m http.server --directory {1}  # publish: any web server with these files, "
        "{3}\n",
        ref, repo, name, printable_line(place));
}

std::string summary(const BuildResult& result, const Blueprint& blueprint,
                    const BuildOptions& options, const Console& console) {
    const Commit& commit = result.commit;
    const Totals totals = totals_of(result, console);
    const std::string repo = typed(options.repo);
    std::string text = "\n";
    text += row("ref", commit.ref);
    text += row("commit", commit.checksum);
    if (commit.unchanged) {
        text += row("version", commit.version);
        text += row("kernel", kernel_and_driver(result.resolution));
        text += unverified_row(blueprint);
        text += row("time", fmt::format("{:.2f} s", totals.seconds));
        return text +
               fmt::format("\nNo change: {} has this image already, as this commit.\n", repo);
    }
    text += row("signed by", commit.is_signed ? blueprint.ostree.sign : "nobody");
    text += row("parent", commit.parent.empty() ? "none, the first of its ref" : commit.parent);
    text += row("version", commit.version);
    text += row("kernel", kernel_and_driver(result.resolution));
    const std::string set = blueprint.package_set.name.empty()
                                ? ""
                                : "; package set " + describe_package_set(blueprint.package_set);
    text += row("packages",
                fmt::format("{}, {} of RPMs{}", totals.packages, human_size(totals.download), set));
    text += unverified_row(blueprint);
    text += image_rows(result.resolution);
    text +=
        row("image", fmt::format("{}, {}", plural(commit.files, "file"), human_size(commit.size)));
    text += row("written", fmt::format("{}, {}, to {}", plural(commit.new_objects, "new object"),
                                       human_size(commit.new_bytes), repo));
    if (!options.lockfile.empty()) {
        text += row("lockfile", typed(options.lockfile));
    }
    text += row("time", fmt::format("{:.1f} s ({})", totals.seconds, stage_list(console)));
    text += row("memory", fmt::format("{} MiB at most", totals.peak_rss_mib));
    if (const std::size_t count = console.warnings().size(); count > 0) {
        text += row("warnings", fmt::format("{}, above", count));
    }
    return text + next_steps(commit.ref, shell_word(repo), blueprint.ostree.url);
}

/// The log of every build is in its cache. A build does not fail for lack of it.
void keep_log(Context& ctx, LogFormat format, Console& console) {
    try {
        ctx.log.add_file(begin_build_log(ctx.cache, format), format);
    } catch (const Error& problem) {
        console.warn(problem.message());
    }
}

/// The ref is set, whether or not anybody is told.
void show_result(const GlobalOptions& global, const BuildResult& result, const Blueprint& blueprint,
                 const BuildOptions& options, const Console& console) {
    try {
        print_result(global.json ? json_document(result, blueprint, options, console)
                                 : summary(result, blueprint, options, console));
    } catch (const std::exception& failure) {
        const auto* known = dynamic_cast<const Error*>(&failure);
        throw Error(known != nullptr ? *known
                                     : error("the result cannot be shown: {}", failure.what()))
            .traced(fmt::format("ref {} in {} has commit {} nevertheless", result.commit.ref,
                                options.repo.string(), result.commit.checksum));
    }
}

/// The build has succeeded, even if the cache stays larger than it should.
void try_to_prune(const Context& ctx, const std::string& max_size) {
    if (const auto reason = reason_of_failure([&] { prune_after_build(ctx, max_size); })) {
        ctx.console->warn(fmt::format(
            "the cache is not pruned to {}: {}; later, `edgegpu cache prune --max-size {}` does it",
            max_size, *reason, max_size));
    }
}

}  // namespace

int run_build(const GlobalOptions& global, const BuildCommand& command) {
    if (command.blueprints.size() > 1) {
        return run_builds(global, command);
    }
    const std::filesystem::path& path = command.blueprints.front();
    // First of all, and outside of the build's namespace: the keys are the caller's.
    Signer signer(&interrupted());
    Context ctx;
    ctx.cache = cache_directory(command.cache_dir);
    enter_build_namespace();
    Console console(console_output(global));
    const Blueprint blueprint = read_checked_blueprint(global, path, command.inputs);
    require_outside_of_image(blueprint, "cache", ctx.cache);
    require_outside_of_image(blueprint, "repository", command.repo);
    signer.allow(signing_request(blueprint.ostree, blueprint.nvidia));
    ctx.log = global.log;
    keep_log(ctx, global.log_format, console);
    signer.log_to(ctx.log);
    ctx.jobs = command.jobs != 0 ? command.jobs : available_processors();
    ctx.log.info("build begins", {{"version", EDGEGPU_VERSION},
                                  {"blueprint", blueprint.path},
                                  {"name", blueprint.name},
                                  {"ref", blueprint.ostree.ref},
                                  {"cache", ctx.cache},
                                  {"jobs", ctx.jobs}});
    show_remarks(blueprint, console);
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.offline = command.offline;
    ctx.program_timeout = std::chrono::seconds(command.program_timeout);

    BuildOptions options;
    options.repo = std::filesystem::absolute(command.repo).lexically_normal();
    ctx.deflate_level = deflate_level(options.repo, command.compression);
    options.locked = command.locked;
    options.explain = command.explain;
    options.max_upgrade_bytes = parse_size(command.max_upgrade_bytes);
    if (!blueprint.parent) {
        options.lockfile = lockfile_of(command, blueprint, console);
    } else if (command.locked || !command.lockfile.empty()) {
        throw error(ErrorKind::usage, "{}: there are no lockfiles with [parent] yet",
                    blueprint.parent->location.text())
            .hinted("leave out --lock and --locked");
    }

    const BuildResult result = build_image(ctx, blueprint, options, signer);
    show_result(global, result, blueprint, options, console);
    try_to_prune(ctx, command.cache_max_size);
    return result.commit.unchanged && command.unchanged_exit_77 ? 77 : 0;
}

}  // namespace edgegpu
