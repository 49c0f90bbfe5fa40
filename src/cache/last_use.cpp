#include "cache/last_use.hpp"

#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

fs::path gate_of(const Context& ctx) {
    return ctx.cache / "last-use.lock";
}

bool is_recorded(const struct stat& status) {
    const auto seconds = std::chrono::seconds(std::time(nullptr) - status.st_mtim.tv_sec);
    // A time to come is a clock that was wrong.
    return seconds < use_interval && seconds > -use_interval;
}

}  // namespace

bool mark_used(const Context& ctx, const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return false;
    }
    if (is_recorded(status)) {
        return true;
    }
    const FileLock gate =
        FileLock::take(ctx, gate_of(ctx), LockMode::shared, "is removing old entries of the cache");
    constexpr std::array<struct timespec, 2> now{{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
    if (::utimensat(AT_FDCWD, path.c_str(), now.data(), AT_SYMLINK_NOFOLLOW) == 0) {
        return true;
    }
    if (errno != ENOENT) {
        throw errno_error(path.string(), errno);
    }
    return false;
}

void wait_for_removal(const Context& ctx) {
    static_cast<void>(FileLock::take(ctx, gate_of(ctx), LockMode::shared,
                                     "is removing old entries of the cache"));
}

FileLock stop_use(const Context& ctx) {
    return FileLock::take(ctx, gate_of(ctx), LockMode::exclusive,
                          "is removing old entries of the cache");
}

}  // namespace edgegpu
