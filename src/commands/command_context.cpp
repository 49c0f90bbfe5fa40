#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

#include "blueprint/blueprint.hpp"
#include "blueprint/known_secrets.hpp"
#include "blueprint/parse/parse.hpp"
#include "commands/commands.hpp"
#include "commit/device_key.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "support/error.hpp"

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

std::vector<std::string> unverified_repositories(const std::vector<Repository>& repositories,
                                                 bool packages) {
    std::vector<std::string> ids;
    for (const Repository& repository : repositories) {
        if (repository.enabled && !repository.repo_gpgcheck && repository.gpgcheck == packages) {
            ids.push_back(repository.id);
        }
    }
    return ids;
}

namespace {

/// Red Hat signs packages but not metadata: that is accepted, with a note.
void note_unchecked_metadata(const std::vector<Repository>& repositories, Console& console) {
    const std::vector<std::string> ids = unverified_repositories(repositories, true);
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
    std::ranges::move(DeviceKey(blueprint, std::time(nullptr)).warnings(),
                      std::back_inserter(blueprint.warnings));
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

}  // namespace edgegpu
