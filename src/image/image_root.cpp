#include "image/image_root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

constexpr int max_links = 40;
constexpr std::size_t max_path = 4096;

Error image_error(std::string_view path, int code) {
    return errno_error(fmt::format("{} of the image", path), code);
}

/// openat2(2); glibc has no function for it. EAGAIN: something was renamed on the way.
Fd open_in_root(int root, std::string_view path, std::uint64_t flags) {
    struct open_how how {};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    const std::string text = path.empty() ? "." : std::string(path);
    for (int tries = 0;; ++tries) {
        const long fd = ::syscall(SYS_openat2, root, text.c_str(), &how, sizeof how);
        if (fd >= 0 || (errno != EINTR && (errno != EAGAIN || tries > 100))) {
            return Fd(static_cast<int>(fd));
        }
    }
}

std::string own_path(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

/// The name is one component: `.` and `..` would lead elsewhere than to an object of the parent.
bool is_component(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

std::string_view without_trailing_slashes(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path;
}

bool is_absent(int code) {
    return code == ENOENT || code == ENOTDIR;
}

void prepend_parts(std::deque<std::string>& rest, std::string_view path) {
    std::deque<std::string> parts;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        if (slash > 0) {
            parts.emplace_back(path.substr(0, slash));
        }
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    rest.insert(rest.begin(), parts.begin(), parts.end());
}

/// chown drops set-id bits and capabilities, so it comes first. `fd` was opened with O_PATH.
void apply_attributes(int fd, std::string_view path, const FileAttributes& attributes) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 ||
        ::fchownat(fd, "", attributes.uid, attributes.gid, AT_EMPTY_PATH) != 0) {
        throw image_error(path, errno);
    }
    if (S_ISLNK(status.st_mode)) {
        return;
    }
    // By the descriptor, which no link can be put in the place of.
    const std::string self = own_path(fd);
    if (::chmod(self.c_str(), attributes.mode) != 0 ||
        (!attributes.capabilities.empty() &&
         ::setxattr(self.c_str(), "security.capability", attributes.capabilities.data(),
                    attributes.capabilities.size(), 0) != 0)) {
        throw image_error(path, errno);
    }
}

/// A file under a name of its own in a directory; gone unless it is renamed.
class NewFile {
public:
    NewFile(int parent, std::string_view path) : parent_(parent) {
        for (int number = 0;; ++number) {
            name_ = fmt::format(".edgegpu-{}-{}", ::gettid(), number);
            file_ = Fd(::openat(parent, name_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
            if (file_) {
                return;
            }
            if (errno != EEXIST) {
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

void write_all(int fd, std::string_view data, std::string_view path) {
    while (!data.empty()) {
        const ssize_t put = ::write(fd, data.data(), data.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            throw image_error(path, errno);
        }
        data.remove_prefix(static_cast<std::size_t>(put));
    }
}

std::vector<std::string> names_in(Fd directory, std::string_view path) {
    const Handle<DIR, ::closedir> stream(::fdopendir(directory.get()));
    if (!stream) {
        throw image_error(path, errno);
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
        throw image_error(path, errno);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

ImageRoot::ImageRoot(const std::filesystem::path& directory)
    : directory_(directory),
      root_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    if (!root_) {
        throw errno_error(directory.string(), errno);
    }
}

ImageRoot::Place ImageRoot::place_of(std::string_view path) const {
    const std::string_view trimmed = without_trailing_slashes(path);
    const std::size_t slash = trimmed.rfind('/');
    const std::string_view name = trimmed.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const std::string_view parent =
        slash == std::string_view::npos ? std::string_view(".") : trimmed.substr(0, slash + 1);
    if (!is_component(name)) {
        throw error("{} of the image: not the path of an object", path);
    }
    Fd directory = open_in_root(root_.get(), parent, O_PATH | O_DIRECTORY);
    if (!directory) {
        throw image_error(path, errno);
    }
    return {std::move(directory), std::string(name)};
}

std::optional<struct stat> ImageRoot::status(std::string_view path, LastLink last) const {
    const Fd object =
        open_in_root(root_.get(), path, O_PATH | (last == LastLink::followed ? 0 : O_NOFOLLOW));
    struct stat result {};
    if (!object) {
        if (is_absent(errno) || (last == LastLink::followed && errno == ELOOP)) {
            return std::nullopt;
        }
        throw image_error(path, errno);
    }
    if (::fstat(object.get(), &result) != 0) {
        throw image_error(path, errno);
    }
    return result;
}

bool ImageRoot::has_file(std::string_view path) const {
    const std::optional<struct stat> found = status(path, LastLink::followed);
    return found && S_ISREG(found->st_mode);
}

bool ImageRoot::has_directory(std::string_view path) const {
    const std::optional<struct stat> found = status(path, LastLink::followed);
    return found && S_ISDIR(found->st_mode);
}

std::string ImageRoot::resolve(std::string_view path, LastLink last) const {
    std::deque<std::string> rest;
    prepend_parts(rest, path);
    std::string done;
    for (int links = 0; !rest.empty();) {
        const std::string part = rest.front();
        rest.pop_front();
        if (part == ".") {
            continue;
        }
        if (part == "..") {
            done.resize(std::min(done.rfind('/'), done.size()));
            continue;
        }
        const std::string next = done + "/" + part;
        const std::optional<struct stat> found = status(next);
        if (!found || !S_ISLNK(found->st_mode) || (rest.empty() && last != LastLink::followed)) {
            done = next;
            continue;
        }
        if (++links > max_links) {
            throw error("{}: too many levels of symbolic links in the image", path);
        }
        const std::string target = read_link(next);
        if (target.starts_with('/')) {
            done.clear();
        }
        prepend_parts(rest, target);
    }
    return done.empty() ? "/" : done;
}

std::string ImageRoot::read_link(std::string_view path) const {
    const Place place = place_of(path);
    std::string target(max_path, '\0');
    const ssize_t size =
        ::readlinkat(place.parent.get(), place.name.c_str(), target.data(), target.size());
    if (size < 0) {
        throw image_error(path, errno);
    }
    target.resize(static_cast<std::size_t>(size));
    return target;
}

Fd ImageRoot::open_path(std::string_view path, LastLink last) const {
    Fd object =
        open_in_root(root_.get(), path, O_PATH | (last == LastLink::followed ? 0 : O_NOFOLLOW));
    if (!object) {
        throw image_error(path, errno);
    }
    return object;
}

Fd ImageRoot::open_file(std::string_view path, LastLink last) const {
    const Fd object = open_path(path, last);
    struct stat found {};
    if (::fstat(object.get(), &found) != 0) {
        throw image_error(path, errno);
    }
    if (!S_ISREG(found.st_mode)) {
        throw error("{} of the image: not a regular file", path);
    }
    // The same object again, now to be read: opening a fifo or a device by its name would wait, or
    // worse.
    Fd file(::open(own_path(object.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file) {
        throw image_error(path, errno);
    }
    return file;
}

std::string ImageRoot::read(std::string_view path, std::uint64_t limit, LastLink last) const {
    const Fd file = open_file(path, last);
    return read_file(file.get(), fmt::format("{} of the image", path), limit);
}

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
    // Not through the umask: the mode comes with the attributes.
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
    write_all(file.fd(), content, path);
    file.become(path, place.name, attributes);
}

void ImageRoot::copy_in(std::string_view path, int source, const FileAttributes& attributes) const {
    const Place place = place_of(path);
    NewFile file(place.parent.get(), path);
    copy_content(source, file.fd(), fmt::format("{} of the image", path));
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

std::string ImageRoot::attribute(std::string_view path, const char* name) const {
    const Fd object = open_path(path, LastLink::not_followed);
    struct stat found {};
    if (::fstat(object.get(), &found) != 0) {
        throw image_error(path, errno);
    }
    if (S_ISLNK(found.st_mode)) {
        return {};  // Those that matter here cannot be on a link.
    }
    std::array<char, 256> value{};
    const ssize_t size =
        ::getxattr(own_path(object.get()).c_str(), name, value.data(), value.size());
    if (size < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) {
        return {};
    }
    if (size < 0) {
        throw image_error(fmt::format("{}: {}", path, name), errno);
    }
    return {value.data(), static_cast<std::size_t>(size)};
}

void ImageRoot::remove(std::string_view path) const {
    if (!status(path)) {
        return;
    }
    const Place place = place_of(path);
    remove_at(place.parent.get(), place.name, fmt::format("{} of the image", path));
}

std::vector<std::string> ImageRoot::list(std::string_view path) const {
    Fd directory = open_in_root(root_.get(), path, O_RDONLY | O_DIRECTORY);
    if (!directory) {
        throw image_error(path, errno);
    }
    return names_in(std::move(directory), path);
}

void ImageRoot::walk(
    std::string_view path,
    const std::function<void(const std::string&, const struct stat&)>& visit) const {
    for (const std::string& name : list(path)) {
        std::string child = path == "/" ? "/" + name : fmt::format("{}/{}", path, name);
        if (child.size() >= max_path) {
            throw error("{}… of the image: a path longer than {} bytes", child.substr(0, 80),
                        max_path - 1)
                .hinted("a package or a scriptlet made directories that no program can reach");
        }
        const std::optional<struct stat> found = status(child);
        if (!found) {
            throw image_error(child, ENOENT);
        }
        visit(child, *found);
        if (S_ISDIR(found->st_mode)) {
            walk(child, visit);
        }
    }
}

void make_writable_directory(const std::filesystem::path& path) {
    edgegpu::make_directories(path);
    if (::chown(path.c_str(), 0, 0) != 0) {
        throw errno_error(path.string(), errno);
    }
}

}  // namespace edgegpu
