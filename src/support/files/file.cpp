#include "support/files/file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

bool is_made_by_kernel(int file) noexcept {
    constexpr std::array<std::uint64_t, 12> kinds{
        PROC_SUPER_MAGIC, SYSFS_MAGIC,         DEBUGFS_MAGIC,  TRACEFS_MAGIC,
        SECURITYFS_MAGIC, SELINUX_MAGIC,       BPF_FS_MAGIC,   CGROUP_SUPER_MAGIC,
        PSTOREFS_MAGIC,   CGROUP2_SUPER_MAGIC, EFIVARFS_MAGIC, NSFS_MAGIC};
    struct statfs status {};
    return ::fstatfs(file, &status) == 0 &&
           std::ranges::find(kinds, static_cast<std::uint64_t>(status.f_type)) != kinds.end();
}

struct stat status_of(int file, const std::string& name) {
    struct stat status {};
    if (::fstat(file, &status) != 0) {
        throw errno_error(name, errno);
    }
    return status;
}

FileState state_of(int file, const std::string& name) {
    const struct stat status = status_of(file, name);
    if (!S_ISREG(status.st_mode)) {
        throw error("{}: not a regular file", name);
    }
    if (is_made_by_kernel(file)) {
        throw error("{}: not a stored file: the kernel makes its content when it is read", name);
    }
    const auto nanoseconds = [](const struct timespec& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    return {static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

std::string_view kind_of(unsigned mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return "a file";
        case S_IFDIR:
            return "a directory";
        case S_IFLNK:
            return "a link";
        case S_IFCHR:
            return "a character device";
        case S_IFBLK:
            return "a block device";
        case S_IFIFO:
            return "a fifo";
        case S_IFSOCK:
            return "a socket";
        default:
            return "something else than a file";
    }
}

Fd open_at(int directory, const std::string& path, std::uint64_t flags, std::uint64_t resolve,
           std::uint64_t mode) {
    constexpr int most_tries = 100000;
    if (path.find('\0') != std::string::npos) {
        errno = EINVAL;
        return {};
    }
    struct open_how how {};
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = resolve;
    for (int tries = 0;; ++tries) {
        const long fd = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
        if (fd >= 0 || (errno != EINTR && (errno != EAGAIN || tries > most_tries))) {
            return Fd(static_cast<int>(fd));
        }
        if (tries > 10) {
            ::sched_yield();
        }
    }
}

bool lock_file(int file, int operation) noexcept {
    while (::flock(file, operation) != 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

fs::path path_of_descriptor(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

Fd open_regular(int place, const std::string& name) {
    static_cast<void>(state_of(place, name));
    // O_NONBLOCK: does not wait for a lease that another process holds.
    Fd file(::open(path_of_descriptor(place).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
        throw errno_error(name, errno);
    }
    return file;
}

void allow_open_files() {
    constexpr rlim_t wanted = 8192;
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = std::min(limit.rlim_max, wanted);
        // If that fails, opening one file too many reports it.
        [[maybe_unused]] const int done = ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
    // Opening a fifo would wait for a writer, which O_NONBLOCK does not; to regular files it means
    // nothing.
    const Fd file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    return read_file(file.get(), path.string(), limit);
}

std::string read_file(int fd, const std::string& name, std::uint64_t limit) {
    const std::uint64_t size = state_of(fd, name).size;
    if (size > limit) {
        throw error("{}: {} bytes exceed the limit of {}", name, size, limit);
    }
    return read_beginning(fd, name, size);
}

std::string read_beginning(int fd, const std::string& name, std::uint64_t most) {
    const std::uint64_t size = std::min(state_of(fd, name).size, most);
    std::string content(static_cast<std::size_t>(size), '\0');
    const ssize_t got = read_at(fd, content.data(), content.size(), 0);
    if (got < 0) {
        throw errno_error(name, errno);
    }
    content.resize(static_cast<std::size_t>(got));
    return content;
}

bool write_all(int fd, std::string_view data) noexcept {
    while (!data.empty()) {
        const ssize_t put = ::write(fd, data.data(), data.size());
        if (put == 0) {
            errno = EIO;
        }
        if (put == 0 || (put < 0 && errno != EINTR)) {
            return false;
        }
        data.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
    }
    return true;
}

Fd memory_file(const std::string& what, std::string_view data) {
    Fd file(::memfd_create(what.c_str(), MFD_CLOEXEC));
    if (!file || !write_all(file.get(), data) || ::lseek(file.get(), 0, SEEK_SET) != 0) {
        throw errno_error("memory file for " + what, errno);
    }
    return file;
}

namespace {

void copy_by_buffer(int from, int to, const std::string& name, std::uint64_t limit) {
    std::vector<char> buffer(128UL * 1024UL);
    while (limit > 0) {
        const ssize_t got =
            ::read(from, buffer.data(), std::min<std::uint64_t>(limit, buffer.size()));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw errno_error(name, errno);
        }
        if (got == 0) {
            return;
        }
        limit -= static_cast<std::uint64_t>(got);
        if (!write_all(to, {buffer.data(), static_cast<std::size_t>(got)})) {
            throw errno_error(name, errno);
        }
    }
}

}  // namespace

void copy_content(int source, int target, const std::string& name, std::uint64_t limit) {
    while (limit > 0) {
        const ssize_t moved = ::copy_file_range(source, nullptr, target, nullptr,
                                                std::min<std::uint64_t>(limit, 1U << 30U), 0);
        if (moved == 0) {
            return;
        }
        if (moved < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
                          errno == EOPNOTSUPP || errno == EPERM)) {
            copy_by_buffer(source, target, name, limit);
            return;
        }
        if (moved < 0 && errno != EINTR) {
            throw errno_error(name, errno);
        }
        limit -= static_cast<std::uint64_t>(std::max<ssize_t>(moved, 0));
    }
}

void make_directories(const fs::path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) {
        throw errno_error(path.string(), code.value());
    }
}

namespace {

/// Below this depth, subtrees are moved up before they are removed, so that neither descriptors nor
/// the stack run out on a tree made to be deep.
constexpr int deep = 64;

/// Empties the directory `parent`/`name`; what is too deep is moved into `top`.
void remove_below(int parent, const std::string& name, int top, int depth,
                  const std::string& shown);

/// Opens the directory `parent`/`name`, not a link, and makes it readable and writable, which its
/// mode may not allow. Empty, with errno, if that is not possible.
Fd open_to_empty(int parent, const std::string& name) {
    const Fd found(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!found || ::fstat(found.get(), &status) != 0) {
        return {};
    }
    const fs::path self = path_of_descriptor(found.get());
    if ((status.st_mode & 0700U) != 0700U) {
        // Through the descriptor, so that no link can take its place. If it fails, the removal
        // reports it.
        [[maybe_unused]] const int changed = ::chmod(self.c_str(), 0700);
    }
    return Fd(::open(self.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Moves the directory into `top`, under a name that is free there. False if it cannot be moved:
/// overlayfs does not move directories of a lower layer.
bool move_up(int parent, const std::string& name, int top, const std::string& shown) {
    static std::atomic<std::uint64_t> number{0};
    for (int tries = 0;; ++tries) {
        const std::string higher = fmt::format(".deep-{}", number++);
        if (::renameat2(parent, name.c_str(), top, higher.c_str(), RENAME_NOREPLACE) == 0) {
            return true;
        }
        if (errno == EXDEV) {
            return false;
        }
        if (errno == EACCES && tries == 0) {
            // A directory that moves must be writable itself.
            static_cast<void>(open_to_empty(parent, name));
        } else if (errno != EEXIST) {
            throw errno_error(shown, errno);
        }
    }
}

void remove_one(int parent, const std::string& name, int top, int depth, const std::string& shown) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) {
        return;
    }
    if (errno != EISDIR && errno != EPERM) {  // EPERM: what POSIX has for a directory
        throw errno_error(shown, errno);
    }
    if (depth >= deep && move_up(parent, name, top, shown)) {
        return;
    }
    remove_below(parent, name, top, depth + 1, shown);
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
        throw errno_error(shown, errno);
    }
}

void remove_below(int parent, const std::string& name, int top, int depth,
                  const std::string& shown) {
    Fd directory = open_to_empty(parent, name);
    if (!directory) {
        throw errno_error(shown, errno);
    }
    const int own = directory.get();
    if (top < 0) {
        top = own;
    }
    const Handle<DIR, ::closedir> stream(::fdopendir(own));
    if (!stream) {
        throw errno_error(shown, errno);
    }
    [[maybe_unused]] const int taken = directory.release();
    // Until a pass finds nothing: what was moved up arrives in a directory that is being read.
    for (bool found = true; found;) {
        found = false;
        ::rewinddir(stream.get());
        while (const dirent* item = ::readdir(stream.get())) {
            const std::string child = static_cast<const char*>(item->d_name);
            if (child != "." && child != "..") {
                found = true;
                remove_one(own, child, top, depth, shown);
            }
        }
    }
}

}  // namespace

void remove_at(int parent, const std::string& name, const std::string& shown) {
    remove_one(parent, name, -1, 0, shown);
}

void remove_tree(const fs::path& path) {
    const fs::path own = path.has_filename() ? path : path.parent_path();
    const fs::path above = own.has_parent_path() ? own.parent_path() : fs::path(".");
    const Fd parent(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!parent) {
        if (errno == ENOENT) {
            return;
        }
        throw errno_error(path.string(), errno);
    }
    remove_at(parent.get(), own.filename().string(), path.string());
}

bool is_file_of_size(const fs::path& path, std::uint64_t size) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           static_cast<std::uint64_t>(status.st_size) == size;
}

}  // namespace edgegpu
