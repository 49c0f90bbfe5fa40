#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include "execution/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// How many may hold a lock at once.
enum class LockMode { shared, exclusive };

/// What happens to a lock's file when its holder releases it.
enum class LockFile { kept, removed };

/// A lock on a file, flock(2): it ends with its holder, even if that is killed. Each object is a
/// holder of its own, even within one process. The file names the process of an exclusive holder
/// while it is held, and is empty or gone after an orderly release.
class FileLock {
public:
    /// Takes the lock on `path`, which is created if absent; returns nothing if somebody else's
    /// lock conflicts. Throws Error naming the path.
    [[nodiscard]] static std::optional<FileLock> try_take(const std::filesystem::path& path,
                                                          LockMode mode,
                                                          LockFile file = LockFile::kept);
    /// The same, waiting until it is free. If that takes longer than half a second, `ctx.console`
    /// notes which process it waits for, and `what` that one does: "is compiling the kernel modules
    /// of 6.1.0". Throws ErrorKind::interrupted if the build is cancelled meanwhile, and Error if
    /// it is not free within `limit`.
    [[nodiscard]] static FileLock take(const Context& ctx, const std::filesystem::path& path,
                                       LockMode mode, std::string_view what,
                                       LockFile file = LockFile::kept,
                                       std::optional<std::chrono::seconds> limit = {});

    FileLock(FileLock&& other) noexcept = default;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock() { release(); }

    /// Whether the previous holder was killed: it left its name in the file.
    [[nodiscard]] bool was_abandoned() const noexcept { return abandoned_; }
    /// Turns an exclusive lock into a shared one; another exclusive holder may get in between.
    void share();

private:
    FileLock(Fd fd, std::filesystem::path path, LockMode mode, LockFile file);
    void release() noexcept;

    Fd fd_;
    std::filesystem::path path_;
    LockMode mode_;
    LockFile file_;
    bool abandoned_ = false;
};

/// flock(2), exclusive, of an open file or directory that is not a lock's own: `path` is for
/// messages. Waits as FileLock::take does, and throws the same; and Error if it is not free within
/// `limit`.
void wait_for_lock(const Context& ctx, int file, const std::filesystem::path& path,
                   std::string_view what, std::optional<std::chrono::seconds> limit = {});

}  // namespace edgegpu
