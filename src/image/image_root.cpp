#include "image/image_root.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "image/image_path.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Whether the name denotes an object of its parent directory, which `.` and `..` do not.
bool is_component(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

ImageRoot::ImageRoot(const std::filesystem::path& directory)
    : root_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
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
        throw error("{}: not the path of an object", shown(path));
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
    if (!object) {
        if (is_absent(errno) || (last == LastLink::followed && errno == ELOOP)) {
            return std::nullopt;
        }
        throw image_error(path, errno);
    }
    return status_of(object.get(), shown(path));
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
    return resolve_links(path, last == LastLink::followed, [&](const std::string& next) {
        const std::optional<struct stat> found = status(next);
        return found && S_ISLNK(found->st_mode) ? std::optional(read_link(next)) : std::nullopt;
    });
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
    if (!S_ISREG(status_of(object.get(), shown(path)).st_mode)) {
        throw error("{}: not a regular file", shown(path));
    }
    // Opens the same object again for reading: opening a fifo or a device by its path could block
    // or have side effects.
    Fd file(::open(path_of_descriptor(object.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file) {
        throw image_error(path, errno);
    }
    return file;
}

std::string ImageRoot::read(std::string_view path, std::uint64_t limit, LastLink last) const {
    const Fd file = open_file(path, last);
    return read_file(file.get(), shown(path), limit);
}

std::string ImageRoot::attribute(std::string_view path, const char* name) const {
    const Fd object = open_path(path, LastLink::not_followed);
    const struct stat found = status_of(object.get(), shown(path));
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        return {};  // Attributes in use here exist on files and directories only.
    }
    std::array<char, 256> value{};
    const ssize_t size =
        ::getxattr(path_of_descriptor(object.get()).c_str(), name, value.data(), value.size());
    if (size < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) {
        return {};
    }
    if (size < 0) {
        throw errno_error(fmt::format("{}: {}", shown(path), name), errno);
    }
    return {value.data(), static_cast<std::size_t>(size)};
}

std::vector<std::string> ImageRoot::list(std::string_view path) const {
    Fd directory = open_in_root(root_.get(), path, O_RDONLY | O_DIRECTORY);
    if (!directory) {
        throw image_error(path, errno);
    }
    std::optional<std::vector<std::string>> names = names_in(std::move(directory));
    if (!names) {
        throw image_error(path, errno);
    }
    return *std::move(names);
}

void ImageRoot::walk(
    std::string_view path,
    const std::function<void(const std::string&, const struct stat&)>& visit) const {
    // Visits children after closing the directory: a tree may be deeper than the limit of
    // descriptors.
    std::vector<std::pair<std::string, struct stat>> children;
    {
        Fd directory = open_in_root(root_.get(), path, O_RDONLY | O_DIRECTORY);
        if (!directory) {
            throw image_error(path, errno);
        }
        const Fd here(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0));
        std::optional<std::vector<std::string>> names = names_in(std::move(directory));
        if (!names) {
            throw image_error(path, errno);
        }
        for (std::string& name : *names) {
            struct stat found {};
            if (::fstatat(here.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
                throw image_error(fmt::format("{}/{}", path, name), errno);
            }
            children.emplace_back(std::move(name), found);
        }
    }
    for (const auto& [name, found] : children) {
        const std::string child = path == "/" ? "/" + name : fmt::format("{}/{}", path, name);
        if (child.size() >= max_path) {
            throw error("{}: a path longer than {} bytes", shown(child), max_path - 1)
                .hinted("a package or a scriptlet made directories that no program can reach");
        }
        visit(child, found);
        if (S_ISDIR(found.st_mode)) {
            walk(child, visit);
        }
    }
}

}  // namespace edgegpu
