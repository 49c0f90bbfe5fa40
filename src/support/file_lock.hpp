#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "support/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// How many may hold a lock at once.
enum class LockMode { shared, exclusive };

/// What becomes of a lock's file when its holder lets go of it.
enum class LockFile { kept, removed };

/// A lock on a file, flock(2): it ends with its holder, also where that is killed. Each value is a
/// holder of its own, two of one process too. The file names the process of an exclusive holder
/// while it works, and is empty or gone after it let go in order.
class FileLock {
public:
    /// Takes the lock on `path`, which is made where it is absent; nothing where somebody else's
    /// lock is in the way. Throws Error naming the path.
    [[nodiscard]] static std::optional<FileLock> try_take(const std::filesystem::path& path,
                                                          LockMode mode,
                                                          LockFile file = LockFile::kept);
    /// The same, waiting until it is free. Where that takes longer than half a second,
    /// `ctx.console` notes for whom, and what that one does: "is compiling the kernel modules of
    /// 6.1.0". Throws ErrorKind::interrupted where the build is cancelled meanwhile.
    [[nodiscard]] static FileLock take(const Context& ctx, const std::filesystem::path& path,
                                       LockMode mode, std::string_view what,
                                       LockFile file = LockFile::kept);

    FileLock(FileLock&& other) noexcept = default;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock() { release(); }

    /// Whether the holder before this one was killed: it left its name.
    [[nodiscard]] bool was_abandoned() const noexcept { return abandoned_; }
    /// Makes an exclusive lock a shared one. Another exclusive holder may come and go in between.
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

}  // namespace edgegpu
