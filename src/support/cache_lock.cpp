#include "support/cache_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// In `work/`: what the next build uses again, or (the layers) takes apart itself, because a mount
/// may lie over it.
constexpr std::array<std::string_view, 6> kept_work{"lower",   "lower.index", "upper",
                                                    "overlay", "root",        "scriptlets"};

bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_dead_process(std::string_view text) {
    pid_t pid = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), pid);
    return code == std::errc{} && end == text.data() + text.size() && pid > 0 &&
           ::kill(pid, 0) != 0 && errno == ESRCH;
}

std::vector<fs::directory_entry> children(const fs::path& directory) {
    std::error_code code;
    std::vector<fs::directory_entry> found;
    for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code)) {
        found.push_back(*at);
    }
    return found;
}

void empty_work(const fs::path& work) {
    for (const fs::directory_entry& entry : children(work)) {
        const std::string name = entry.path().filename().string();
        // Those of the sandbox are complete or made anew.
        if (std::find(kept_work.begin(), kept_work.end(), name) == kept_work.end() &&
            !name.starts_with("sandbox-")) {
            remove_tree(entry.path());
        }
    }
}

/// Unfinished files and directories below `directory`, at most `depth` directories down.
void remove_leftovers(const fs::path& directory, int depth) {
    for (const fs::directory_entry& entry : children(directory)) {
        std::error_code code;
        const std::string name = entry.path().filename().string();
        if (is_leftover(name)) {
            remove_tree(entry.path());
        } else if (depth > 0 && !entry.is_symlink(code) && entry.is_directory(code)) {
            remove_leftovers(entry.path(), depth - 1);
        }
    }
}

void remove_all_leftovers(const fs::path& cache) {
    for (const fs::directory_entry& entry : children(cache)) {
        const std::string name = entry.path().filename().string();
        // Unpacked packages and layers appear as a whole and hold many thousand files, whose names
        // are the packages'.
        const bool whole = name == "imports" || name == "composed";
        if (name != "work") {
            remove_leftovers(entry.path(), whole ? 0 : 2);
        }
    }
}

/// Removes what has an image's owners, if these were other ids of the machine than now.
void forget_others_files(const fs::path& cache, const std::string& image_owner) {
    const fs::path mark = cache / "owner";
    std::error_code code;
    const std::string before = fs::exists(mark, code) ? read_file(mark, 4096) : std::string();
    if (before == image_owner) {
        return;
    }
    for (const char* name : {"imports", "composed", "work"}) {
        try {
            remove_tree(cache / name);
        } catch (const Error& failure) {
            throw Error(failure.message())
                .traced(fmt::format("the files there belong to ids {}, but this build has {}",
                                    before.empty() ? "that are not known" : before, image_owner))
                .hinted(fmt::format("sudo rm -rf {}, or choose another --cache-dir",
                                    (cache / name).string()));
        }
    }
    write_file(mark, image_owner);
}

}  // namespace

bool is_leftover(std::string_view name) {
    if (name.starts_with(".new-")) {
        return true;
    }
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) {
        return false;
    }
    const std::string_view suffix = name.substr(dot + 1);
    return is_dead_process(suffix) ||
           (suffix.size() == 6 && std::all_of(suffix.begin(), suffix.end(), is_alphanumeric));
}

CacheLock::CacheLock(const Context& ctx, const std::string& image_owner) {
    make_directories(ctx.cache);
    const fs::path path = ctx.cache / "lock";
    file_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) {
        throw errno_error(path.string(), errno);
    }
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            throw errno_error(path.string(), errno);
        }
        std::string pid = read_file(path, 64);
        pid.erase(pid.find_last_not_of("\n ") + 1);
        throw error("{}: another build (pid {}) uses this cache now", ctx.cache.string(),
                    pid.empty() ? "unknown" : pid)
            .hinted("wait for it to end, or give each build its own --cache-dir");
    }
    struct stat status {};
    const bool killed = ::fstat(file_.get(), &status) == 0 && status.st_size > 0;
    forget_others_files(ctx.cache, image_owner);
    empty_work(ctx.cache / "work");
    if (killed) {
        remove_all_leftovers(ctx.cache);
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file_.get(), 0) != 0 ||
        ::pwrite(file_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        throw errno_error(path.string(), errno);
    }
}

CacheLock::~CacheLock() {
    // If that fails, the next build looks for leftovers and finds none.
    [[maybe_unused]] const int done = ::ftruncate(file_.get(), 0);
}

}  // namespace edgegpu
