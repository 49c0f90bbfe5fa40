#include "support/files/directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Waits until a file is on the disk, or all of the file system that a directory is on: it has
/// hundreds of files.
void write_out(const fs::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 ||
        (S_ISDIR(status.st_mode) ? ::syncfs(file.get()) : ::fsync(file.get())) != 0) {
        throw errno_error(path.string(), errno);
    }
}

fs::path parent_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Waits until the names in a directory are on the disk. A directory may be writable and not
/// readable: then the names follow later.
void write_out_names(const fs::path& directory) {
    const Fd file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file && ::fsync(file.get()) != 0 && errno != EINVAL) {
        throw errno_error(directory.string(), errno);
    }
}

Error in_the_way(const fs::path& path, Existing existing) {
    if (existing == Existing::refuse) {
        return error(ErrorKind::usage, "{}: exists already", path.string());
    }
    return error(ErrorKind::usage, "{}: is not a regular file", path.string())
        .hinted("name a file that can be replaced");
}

/// A file system without RENAME_NOREPLACE, as NFS is, leaves a moment between look and rename.
bool renamed(const fs::path& made, const fs::path& path, Existing existing) {
    if (existing == Existing::refuse) {
        if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
            return true;
        }
        if (errno != EINVAL && errno != ENOSYS) {
            return false;
        }
    }
    const fs::file_status status = fs::symlink_status(path);
    if (fs::exists(status) && (existing == Existing::refuse || !fs::is_regular_file(status))) {
        errno = EEXIST;
        return false;
    }
    return ::rename(made.c_str(), path.c_str()) == 0;
}

/// What mkdtemp(3) replaces, after the prefix of a temporary directory.
constexpr std::string_view letters = ".XXXXXX";

Fd open_directory(const fs::path& path) {
    return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

/// Whether the directory is a temporary one of this user that no process has locked.
bool is_abandoned(const fs::path& path) {
    const Fd directory = open_directory(path);
    struct stat status {};
    return directory && ::fstat(directory.get(), &status) == 0 && status.st_uid == ::geteuid() &&
           (status.st_mode & ALLPERMS) == (S_ISVTX | S_IRWXU) &&
           lock_file(directory.get(), LOCK_EX | LOCK_NB);
}

/// Removes temporary directories of that prefix whose processes were killed.
void remove_abandoned(const fs::path& prefix) {
    const std::string begin = prefix.filename().string() + letters.front();
    for (const fs::directory_entry& entry : children_of(parent_of(prefix))) {
        const std::string name = entry.path().filename();
        if (name.starts_with(begin) && name.size() == begin.size() + letters.size() - 1 &&
            is_abandoned(entry.path())) {
            try {
                remove_tree(entry.path());
            } catch (const Error&) {
                // It is in nobody's way.
            }
        }
    }
}

}  // namespace

std::optional<std::vector<std::string>> names_in(Fd directory) {
    const Handle<DIR, ::closedir> stream(directory ? ::fdopendir(directory.get()) : nullptr);
    if (!stream) {
        return std::nullopt;
    }
    [[maybe_unused]] const int taken = directory.release();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* item = ::readdir(stream.get())) {
        const std::string_view name = static_cast<const char*>(item->d_name);
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
        errno = 0;
    }
    if (errno != 0) {
        return std::nullopt;
    }
    std::ranges::sort(names);
    return names;
}

std::vector<fs::directory_entry> children_of(const fs::path& directory) {
    std::vector<fs::directory_entry> found;
    std::error_code code;
    for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code)) {
        found.push_back(*at);
    }
    std::ranges::sort(found);
    return found;
}

fs::path large_temporary_directory() {
    const char* wanted = std::getenv("TMPDIR");
    return wanted == nullptr || *wanted == '\0' ? "/var/tmp" : wanted;
}

fs::path temporary_directory() {
    std::error_code missing;
    fs::path place = fs::temp_directory_path(missing);
    if (missing) {
        const char* wanted = std::getenv("TMPDIR");
        throw error(ErrorKind::usage, "{}: not a directory, and TMPDIR names it",
                    wanted == nullptr ? "/tmp" : wanted)
            .hinted("set TMPDIR to a directory, or unset it");
    }
    return place;
}

TemporaryDirectory::TemporaryDirectory(const fs::path& prefix) {
    remove_abandoned(prefix);
    std::string name = prefix.string().append(letters);
    if (::mkdtemp(name.data()) == nullptr) {
        throw errno_error(parent_of(prefix).string(), errno);
    }
    path_ = name;
    lock_ = open_directory(path_);
    // Only one that is locked may be taken for abandoned once it is not.
    if (lock_ && lock_file(lock_.get(), LOCK_EX | LOCK_NB)) {
        static_cast<void>(::fchmod(lock_.get(), S_ISVTX | S_IRWXU));
    }
}

void TemporaryDirectory::keep() noexcept {
    kept_ = true;
    if (lock_) {
        static_cast<void>(::fchmod(lock_.get(), S_IRWXU));
    }
}

TemporaryDirectory::~TemporaryDirectory() {
    try {
        if (!kept_) {
            remove_tree(path_);
        }
    } catch (const Error&) {
        // It may be called while an error is on its way, and says nothing of its own.
    }
}

void publish(const fs::path& made, const fs::path& path, Existing existing) {
    write_out(made);
    if (!renamed(made, path, existing)) {
        throw errno == EEXIST ? in_the_way(path, existing) : errno_error(path.string(), errno);
    }
    write_out_names(parent_of(path));
}

}  // namespace edgegpu
