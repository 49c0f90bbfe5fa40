#include <atomic>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// What a leftover of `name` begins with: is_leftover of the cache knows it, too.
std::string leftover_prefix(const std::string& name) {
    constexpr std::size_t most = 200;  // a name has at most 255 bytes
    return fmt::format(".new-{}.", name.substr(0, most));
}

/// A name that no other thread has; a killed process of the same number may have left a file of it.
std::string temporary_name(const std::string& name) {
    static std::atomic<unsigned> number{0};
    return fmt::format("{}{}-{}", leftover_prefix(name), ::getpid(), number++);
}

/// A file that is being written, in the directory in which it will have its name.
class NewFile {
public:
    /// Empty, with errno, if none can be made.
    NewFile(int directory, const std::string& name, bool named)
        : directory_(directory), name_(name) {
        if (named) {
            make_named();
        } else {
            file_ = Fd(::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
        }
        if (file_) {
            // As long as it is locked it is no leftover. Where that is impossible, so is removing.
            static_cast<void>(lock_file(file_.get(), LOCK_EX | LOCK_NB));
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (!temporary_.empty()) {
            ::unlinkat(directory_, temporary_.c_str(), 0);
        }
    }

    [[nodiscard]] int get() const noexcept { return file_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(file_); }

    /// Gives it its name; false, with errno, if that is not possible.
    bool finish() {
        if (temporary_.empty()) {
            if (link(name_)) {
                return true;
            }
            // No file is replaced by a link: only a rename does that.
            if (errno != EEXIST || !link_temporary()) {
                return false;
            }
        }
        if (::renameat(directory_, temporary_.c_str(), directory_, name_.c_str()) != 0) {
            return false;
        }
        temporary_.clear();
        return true;
    }

private:
    void make_named() {
        do {
            temporary_ = temporary_name(name_);
            file_ = Fd(::openat(directory_, temporary_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        } while (!file_ && errno == EEXIST);
        if (!file_) {
            temporary_.clear();
        }
    }

    [[nodiscard]] bool link(const std::string& name) const {
        return ::linkat(AT_FDCWD, path_of_descriptor(file_.get()).c_str(), directory_, name.c_str(),
                        AT_SYMLINK_FOLLOW) == 0;
    }

    bool link_temporary() {
        std::string name;
        do {
            name = temporary_name(name_);
            if (link(name)) {
                temporary_ = name;
                return true;
            }
        } while (errno == EEXIST);
        return false;
    }

    int directory_;
    const std::string& name_;
    Fd file_;
    /// its name until it has the right one; empty: it has none
    std::string temporary_;
};

Fd open_parent(const fs::path& path) {
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return Fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// Whether an errno may come from a file system without anonymous files, or without links to them.
bool wants_names(int code) {
    return code == EOPNOTSUPP || code == EISDIR || code == ENOENT || code == EINVAL ||
           code == EXDEV || code == EPERM;
}

}  // namespace

bool try_write_file_at(int directory, const std::string& name, std::string_view content,
                       unsigned mode, bool durable) {
    for (const bool named : {false, true}) {
        int code = 0;
        {
            NewFile file(directory, name, named);
            if (file && write_all(file.get(), content) && ::fchmod(file.get(), mode) == 0 &&
                (!durable || ::fsync(file.get()) == 0) && file.finish()) {
                return true;
            }
            code = errno;
        }
        errno = code;
        if (!wants_names(code)) {
            break;
        }
    }
    return false;
}

void write_file(const fs::path& path, std::string_view content, unsigned mode, bool durable) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISLNK(status.st_mode)) {
        // Not a device above all, such as /dev/null, which would be replaced as well.
        throw error("{}: is {}, not a file that can be replaced", path.string(),
                    kind_of(status.st_mode));
    }
    const Fd directory = open_parent(path);
    if (!directory ||
        !try_write_file_at(directory.get(), path.filename().string(), content, mode, durable)) {
        throw errno_error(path.string(), errno);
    }
}

void remove_leftovers_at(int directory, const std::string& name) {
    const auto names = names_in(Fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    const std::string prefix = leftover_prefix(name);
    for (const std::string& found : names.value_or(std::vector<std::string>())) {
        if (!found.starts_with(prefix) ||
            found.find_first_not_of("0123456789-", prefix.size()) != std::string::npos) {
            continue;
        }
        const Fd file(
            ::openat(directory, found.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (file && lock_file(file.get(), LOCK_EX | LOCK_NB)) {
            ::unlinkat(directory, found.c_str(), 0);
        }
    }
}

void remove_leftovers_of(const fs::path& path) {
    if (const Fd directory = open_parent(path)) {
        remove_leftovers_at(directory.get(), path.filename().string());
    }
}

}  // namespace edgegpu
