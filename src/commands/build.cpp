#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include "blueprint/blueprint.hpp"
#include "commands/commands.hpp"
#include "pipeline.hpp"
#include "support/context.hpp"
#include "support/file.hpp"
#include "support/interrupt.hpp"

namespace edgegpu {

std::filesystem::path cache_directory(const std::filesystem::path& wanted) {
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
                .hinted("name a directory with --cache-dir");
        }
    }
    chosen = std::filesystem::absolute(chosen);
    make_directories(chosen);
    return chosen;
}

namespace {

struct Totals {
    std::uint64_t download = 0;
    double seconds = 0;
    long peak_rss_mib = 0;
};

Totals totals_of(const BuildResult& result, const Console& console) {
    Totals totals;
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

void print_json(const BuildResult& result, const Console& console) {
    const Totals totals = totals_of(result, console);
    nlohmann::ordered_json stages = nlohmann::ordered_json::array();
    for (const StageTime& stage : console.stage_times()) {
        stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    }
    const Commit& commit = result.commit;
    const nlohmann::ordered_json document = {{"format", "edgegpu-build/1"},
                                             {"unchanged", result.unchanged},
                                             {"ref", commit.ref},
                                             {"commit", commit.checksum},
                                             {"parent", commit.parent},
                                             {"version", commit.version},
                                             {"signed", commit.is_signed},
                                             {"kernel", result.resolution.kernel_uname},
                                             {"driver", result.resolution.driver_version},
                                             {"packages", result.resolution.packages.size()},
                                             {"package_bytes", totals.download},
                                             {"files", commit.files},
                                             {"bytes", commit.size},
                                             {"new_objects", commit.new_objects},
                                             {"new_bytes", commit.new_bytes},
                                             {"peak_rss_mib", totals.peak_rss_mib},
                                             {"stages", stages},
                                             {"warnings", console.warnings()}};
    fmt::print("{}\n", document.dump(2));
}

void print_text(const BuildResult& result, const BuildOptions& options, const Console& console) {
    const Commit& commit = result.commit;
    const Totals totals = totals_of(result, console);
    if (result.unchanged) {
        fmt::print("No change: {} is {}\n", commit.ref, commit.checksum);
        return;
    }
    const std::string driver =
        result.resolution.driver_version.empty() ? "none" : result.resolution.driver_version;
    fmt::print("\n");
    fmt::print("ref       {}\n", commit.ref);
    fmt::print("commit    {}{}\n", commit.checksum, commit.is_signed ? "  (signed)" : "");
    if (!commit.parent.empty()) {
        fmt::print("parent    {}\n", commit.parent);
    }
    fmt::print("version   {}\n", commit.version);
    fmt::print("kernel    {}  with NVIDIA driver {}\n", result.resolution.kernel_uname, driver);
    fmt::print("packages  {} ({} of RPMs)\n", result.resolution.packages.size(),
               human_size(totals.download));
    fmt::print("image     {} files, {}; new in the repository: {} objects, {}\n", commit.files,
               human_size(commit.size), commit.new_objects, human_size(commit.new_bytes));
    fmt::print("time      {:.1f} s, peak memory {} MiB\n", totals.seconds, totals.peak_rss_mib);
    fmt::print("\nNext: ostree --repo={} ls {} /usr/lib/modules\n", options.repo.string(),
               commit.ref);
}

}  // namespace

int run_build(const GlobalOptions& global, const BuildCommand& command) {
    const Blueprint blueprint = parse_blueprint(command.blueprint);
    check_blueprint(blueprint);

    Console console(global.color, global.quiet);
    Context ctx;
    ctx.cache = cache_directory(command.cache_dir);
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.offline = command.offline;
    ctx.jobs = command.jobs != 0 ? command.jobs : std::max(1U, std::thread::hardware_concurrency());

    BuildOptions options;
    options.repo = std::filesystem::absolute(command.repo).lexically_normal();
    options.locked = command.locked;
    options.lockfile = command.lockfile;
    if (options.lockfile.empty()) {
        options.lockfile =
            options.repo.parent_path() / (command.blueprint.stem().string() + ".lock");
    }
    make_directories(options.lockfile.has_parent_path() ? options.lockfile.parent_path() : ".");

    const BuildResult result = build_image(ctx, blueprint, options);
    if (global.json) {
        print_json(result, console);
    } else {
        print_text(result, options, console);
    }
    return result.unchanged && command.unchanged_exit_77 ? 77 : 0;
}

}  // namespace edgegpu
