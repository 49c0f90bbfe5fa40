#include "cache/file_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr auto first_pause = std::chrono::milliseconds(5);
constexpr auto longest_pause = std::chrono::milliseconds(100);
/// Shorter waits are not reported.
constexpr auto silent_wait = std::chrono::milliseconds(500);

/// Whether `path` still names the open file: the previous holder may have removed it.
bool names_open_file(const fs::path& path, int fd) {
    struct stat named {};
    struct stat open {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/// "another build (pid 4711)"; `who` is "another build".
std::string name_holder(const fs::path& path, const std::string& who) {
    std::string pid;
    try {
        pid = read_file(path, 64);
    } catch (const Error&) {
        // It has just released the lock.
        return who;
    }
    pid.resize(trim_end(pid).size());
    const bool number = !pid.empty() && pid.find_first_not_of("0123456789") == std::string::npos;
    return number ? fmt::format("{} (pid {})", who, pid) : who;
}

/// Calls `attempt` until it returns true. Not a wait in the kernel, which no flag would end.
void wait_until(const Context& ctx, const fs::path& path, std::string_view what,
                const std::function<bool()>& attempt,
                std::optional<std::chrono::seconds> limit = {}) {
    const auto began = std::chrono::steady_clock::now();
    bool said = false;
    std::string holder;
    // Builds wait for one another without a limit.
    const std::string who = limit ? "another edgegpu" : "another build";
    for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
        ctx.check_cancelled();
        if (attempt()) {
            break;
        }
        if (holder.empty()) {
            holder = name_holder(path, who);
        }
        if (limit && std::chrono::steady_clock::now() - began >= *limit) {
            throw error("{}: after {} s, {} still {}", path.string(), limit->count(), holder, what)
                .hinted("wait until that has ended; --lock-wait waits longer");
        }
        if (!said && ctx.console != nullptr &&
            std::chrono::steady_clock::now() - began >= silent_wait) {
            said = true;
            ctx.console->note_now(
                fmt::format("waiting for {}, which {}", name_holder(path, who), what));
        }
        // A signal ends the pause: no `sleep_for`, which begins again with what is left, and the
        // kernel adds its timer slack to that, so that frequent signals make it endless.
        ::poll(nullptr, 0, static_cast<int>(pause.count()));
    }
    if (!holder.empty()) {
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
        ctx.log.debug("waited", {{"lock", path.filename()},
                                 {"for", holder},
                                 {"which", what},
                                 {"seconds", waited.count()}});
    }
}

}  // namespace

FileLock::FileLock(Fd fd, fs::path path, LockMode mode, LockFile file)
    : fd_(std::move(fd)), path_(std::move(path)), mode_(mode), file_(file) {
    if (mode_ == LockMode::exclusive) {
        struct stat status {};
        const bool known = ::fstat(fd_.get(), &status) == 0;
        abandoned_ = known && status.st_size > 0;
        const std::string pid = fmt::format("{}\n", ::getpid());
        // For messages alone: a full disk is no reason to fail here. An empty file is not
        // truncated: ext4 would then write it to the disk when it is closed, even if it is removed
        // by then.
        if ((known && !abandoned_) || ::ftruncate(fd_.get(), 0) == 0) {
            [[maybe_unused]] const ssize_t written = ::pwrite(fd_.get(), pid.data(), pid.size(), 0);
        }
    }
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    if (this != &other) {
        release();
        fd_ = std::move(other.fd_);
        path_ = std::move(other.path_);
        mode_ = other.mode_;
        file_ = other.file_;
        abandoned_ = other.abandoned_;
    }
    return *this;
}

std::optional<FileLock> FileLock::try_take(const fs::path& path, LockMode mode, LockFile file) {
    const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    while (true) {
        Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!fd && errno == ENOENT) {
            make_directories(path.parent_path());
            continue;
        }
        if (!fd) {
            throw errno_error(path.string(), errno);
        }
        if (!lock_file(fd.get(), operation)) {
            if (errno == EWOULDBLOCK) {
                return std::nullopt;
            }
            throw errno_error("cannot lock " + path.string(), errno);
        }
        if (names_open_file(path, fd.get())) {
            return FileLock(std::move(fd), path, mode, file);
        }
    }
}

FileLock FileLock::take(const Context& ctx, const fs::path& path, LockMode mode,
                        std::string_view what, LockFile file,
                        std::optional<std::chrono::seconds> limit) {
    std::optional<FileLock> taken;
    wait_until(
        ctx, path, what,
        [&] {
            taken = try_take(path, mode, file);
            return taken.has_value();
        },
        limit);
    return std::move(*taken);
}

void wait_for_lock(const Context& ctx, int file, const fs::path& path, std::string_view what,
                   std::optional<std::chrono::seconds> limit) {
    wait_until(
        ctx, path, what,
        [&] {
            const bool taken = lock_file(file, LOCK_EX | LOCK_NB);
            if (!taken && errno != EWOULDBLOCK) {
                throw errno_error("cannot lock " + path.string(), errno);
            }
            return taken;
        },
        limit);
}

void FileLock::share() {
    [[maybe_unused]] const int emptied = ::ftruncate(fd_.get(), 0);
    mode_ = LockMode::shared;
    if (!lock_file(fd_.get(), LOCK_SH)) {
        throw errno_error("cannot lock " + path_.string(), errno);
    }
}

void FileLock::release() noexcept {
    if (!fd_) {
        return;
    }
    if (file_ == LockFile::removed && mode_ == LockMode::exclusive) {
        // While it is locked: a waiting process sees that it is gone, and opens another one.
        ::unlink(path_.c_str());
    } else if (mode_ == LockMode::exclusive) {
        // If that fails, the next holder looks for leftovers and finds none.
        [[maybe_unused]] const int emptied = ::ftruncate(fd_.get(), 0);
    }
    fd_.reset();
}

}  // namespace edgegpu
