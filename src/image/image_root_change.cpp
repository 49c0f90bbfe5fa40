#include <array>
#include <cerrno>
#include <deque>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "image/id_map.hpp"
#include "image/image_path.hpp"
#include "image/image_root.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Sets the attributes of the object that `fd` (O_PATH is enough) is open on. chown comes first, as
/// it drops set-id bits and capabilities.
void apply_attributes(int fd, std::string_view path, const FileAttributes& attributes) {
    const struct stat status = status_of(fd, shown(path));
    if (::fchownat(fd, "", attributes.uid, attributes.gid, AT_EMPTY_PATH) != 0) {
        throw image_error(fmt::format("{}: owner {}:{}", path, attributes.uid, attributes.gid),
                          errno)
            .hinted(
                fmt::format("the numbers of users and groups in an image are below {}", image_ids));
    }
    if (S_ISLNK(status.st_mode)) {
        return;
    }
    // Through the descriptor, so that a link cannot replace the object.
    const std::string self = path_of_descriptor(fd);
    if (::chmod(self.c_str(), attributes.mode) != 0 ||
        (!attributes.capabilities.empty() && S_ISREG(status.st_mode) &&
         ::setxattr(self.c_str(), "security.capability", attributes.capabilities.data(),
                    attributes.capabilities.size(), 0) != 0)) {
        throw image_error(path, errno);
    }
}

/// A file with a temporary name in a directory; removed unless it is renamed.
class NewFile {
public:
    NewFile(int parent, std::string_view path) : parent_(parent) {
        // A package may contain such names: take the next one that is free.
        for (int number = 0;; ++number) {
            name_ = fmt::format(".edgegpu-{}-{}", ::gettid(), number);
            file_ = Fd(::openat(parent, name_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
            if (file_) {
                return;
            }
            if (errno != EEXIST) {
                name_.clear();
                throw image_error(path, errno);
            }
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (!name_.empty()) {
            ::unlinkat(parent_, name_.c_str(), 0);
        }
    }

    [[nodiscard]] int fd() const { return file_.get(); }

    void become(std::string_view path, const std::string& name, const FileAttributes& attributes) {
        apply_attributes(file_.get(), path, attributes);
        if (::renameat(parent_, name_.c_str(), parent_, name.c_str()) != 0) {
            throw image_error(path, errno);
        }
        name_.clear();
    }

private:
    int parent_;
    std::string name_;
    Fd file_;
};

}  // namespace

void ImageRoot::make_directories(std::string_view path, unsigned mode) const {
    std::string done;
    std::deque<std::string> rest;
    prepend_parts(rest, resolve(path));
    for (const std::string& part : rest) {
        done += '/';
        done += part;
        if (!status(done)) {
            make_directory(done, {0, 0, mode, {}});
        } else if (!has_directory(done)) {
            throw image_error(done, ENOTDIR);
        }
    }
}

void ImageRoot::make_directory(std::string_view path, const FileAttributes& attributes) const {
    if (without_trailing_slashes(path) == "/") {
        apply_attributes(open_path(path).get(), path, attributes);
        return;
    }
    const Place place = place_of(path);
    // The mode is set with the attributes, independent of the umask.
    if (::mkdirat(place.parent.get(), place.name.c_str(), 0700) != 0 && errno != EEXIST) {
        throw image_error(path, errno);
    }
    const Fd made(::openat(place.parent.get(), place.name.c_str(),
                           O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made) {
        throw image_error(path, errno);
    }
    apply_attributes(made.get(), path, attributes);
}

void ImageRoot::write(std::string_view path, std::string_view content,
                      const FileAttributes& attributes) const {
    const Place place = place_of(path);
    NewFile file(place.parent.get(), path);
    if (!write_all(file.fd(), content)) {
        throw image_error(path, errno);
    }
    file.become(path, place.name, attributes);
}

void ImageRoot::copy_in(std::string_view path, int source, const FileAttributes& attributes) const {
    const Place place = place_of(path);
    NewFile file(place.parent.get(), path);
    copy_content(source, file.fd(), shown(path));
    file.become(path, place.name, attributes);
}

void ImageRoot::make_link(std::string_view path, const std::string& target, std::uint32_t uid,
                          std::uint32_t gid) const {
    const Place place = place_of(path);
    if (::symlinkat(target.c_str(), place.parent.get(), place.name.c_str()) != 0 ||
        ::fchownat(place.parent.get(), place.name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
        throw image_error(path, errno);
    }
}

void ImageRoot::make_special(std::string_view path, unsigned type,
                             const FileAttributes& attributes) const {
    if (type != S_IFIFO && type != S_IFSOCK && type != S_IFCHR) {
        throw error("{}: not a fifo, socket or whiteout", shown(path));
    }
    const Place place = place_of(path);
    if (::mknodat(place.parent.get(), place.name.c_str(), type | 0600U, makedev(0, 0)) != 0) {
        throw image_error(path, errno);
    }
    const Fd made(
        ::openat(place.parent.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!made) {
        throw image_error(path, errno);
    }
    apply_attributes(made.get(), path, attributes);
}

bool ImageRoot::link_in(std::string_view path, const std::filesystem::path& source) const {
    const Place place = place_of(path);
    if (::linkat(AT_FDCWD, source.c_str(), place.parent.get(), place.name.c_str(), 0) == 0) {
        return true;
    }
    if (errno != EMLINK && errno != EXDEV) {
        throw image_error(path, errno);
    }
    return false;
}

void ImageRoot::set_attributes(std::string_view path, const FileAttributes& attributes) const {
    const Fd object = open_in_root(root_.get(), path, O_PATH | O_NOFOLLOW);
    if (!object) {
        if (is_absent(errno)) {
            return;
        }
        throw image_error(path, errno);
    }
    apply_attributes(object.get(), path, attributes);
}

void ImageRoot::set_time(std::string_view path, std::int64_t time) const {
    const Place place = place_of(path);
    const std::array<struct timespec, 2> times{{{time, 0}, {time, 0}}};
    if (::utimensat(place.parent.get(), place.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) !=
        0) {
        throw image_error(path, errno);
    }
}

void ImageRoot::set_attribute(std::string_view path, const char* name,
                              const std::string& value) const {
    const Fd object = open_path(path, LastLink::not_followed);
    const struct stat found = status_of(object.get(), shown(path));
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        throw error("{}: neither a file nor a directory", shown(path));
    }
    if (::setxattr(path_of_descriptor(object.get()).c_str(), name, value.data(), value.size(), 0) !=
        0) {
        throw errno_error(fmt::format("{}: {}", shown(path), name), errno);
    }
}

void ImageRoot::remove(std::string_view path) const {
    if (!status(path)) {
        return;
    }
    const Place place = place_of(path);
    remove_at(place.parent.get(), place.name, shown(path));
}

void make_writable_directory(const std::filesystem::path& path) {
    edgegpu::make_directories(path);
    if (::chown(path.c_str(), 0, 0) != 0) {
        throw errno_error(path.string(), errno);
    }
}

}  // namespace edgegpu
