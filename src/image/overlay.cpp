#include "image/overlay.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <thread>

#include <sched.h>

#include "image/image_root.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

void make_directory(const fs::path& path, unsigned mode) {
    // chmod, because mkdir is subject to the umask.
    if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::chmod(path.c_str(), mode) != 0) {
        throw errno_error(path.string(), errno);
    }
}

constexpr const char* other_file_system =
    "put the cache (--cache-dir) on a file system that can be an overlay's upper layer: ext4, xfs, "
    "btrfs, or tmpfs since Linux 6.6; in a container, use a volume, not its root";

/// Throws unless the file system has extended attributes user.*, which mark opaque directories.
/// Without them, a directory that was removed and created again would show its old content.
void require_marks(const fs::path& upper) {
    constexpr const char* probe = "user.overlay.probe";
    if (::setxattr(upper.c_str(), probe, "y", 1, 0) != 0) {
        throw errno_error(upper.string() + ": extended attributes (user.*)", errno)
            .hinted(other_file_system);
    }
    ::removexattr(upper.c_str(), probe);
}

}  // namespace

namespace {

void copy_object(const ImageRoot& from, const ImageRoot& to, const std::string& path,
                 const struct stat& status) {
    FileAttributes attributes{status.st_uid, status.st_gid, status.st_mode & 07777U, {}};
    switch (status.st_mode & S_IFMT) {
        case S_IFDIR: {
            to.make_directory(path, attributes);
            const std::string opaque = from.attribute(path, opaque_mark);
            if (!opaque.empty()) {
                to.set_attribute(path, opaque_mark, opaque);
            }
            return;
        }
        case S_IFREG:
            attributes.capabilities = from.attribute(path, "security.capability");
            to.copy_in(path, from.open_file(path, LastLink::not_followed).get(), attributes);
            return;
        case S_IFLNK:
            to.make_link(path, from.read_link(path), status.st_uid, status.st_gid);
            return;
        default:
            // Whiteouts, and objects that sync_tree leaves out but that hide a packaged path.
            to.make_special(path, status.st_mode & S_IFMT, attributes);
            return;
    }
}

}  // namespace

void copy_layer(const Context& ctx, const fs::path& source, const fs::path& target) {
    const ImageRoot from(source);
    make_directory(target, 0700);
    const ImageRoot to(target);
    copy_object(from, to, "/", *from.status("/"));
    from.walk("/", [&](const std::string& path, const struct stat& status) {
        ctx.check_cancelled();
        copy_object(from, to, path, status);
    });
}

namespace {

struct Overlay {
    fs::path lower_layer;
    fs::path upper_layer;
    fs::path work;
    fs::path mount_point;
    const char* more;
};

/// Calls mount(2) in a thread that has a working directory of its own, `directory`, which paths in
/// the options are relative to; returns 0 or errno.
int mount_in(const fs::path& directory, const fs::path& root, const std::string& options) {
    int code = 0;
    std::thread([&] {
        const bool mounted = ::unshare(CLONE_FS) == 0 && ::chdir(directory.c_str()) == 0 &&
                             ::mount("overlay", root.c_str(), "overlay", 0, options.c_str()) == 0;
        code = mounted ? 0 : errno;
    }).join();
    return code;
}

/// The longest path that all of them begin with.
fs::path common_parent(std::initializer_list<fs::path> paths) {
    fs::path common = paths.begin()->parent_path();
    const auto holds_all = [&] {
        return std::ranges::all_of(
            paths, [&](const fs::path& path) { return is_below(path.string(), common.string()); });
    };
    while (common.has_relative_path() && !holds_all()) {
        common = common.parent_path();
    }
    return common;
}

void mount_overlay(const Overlay& overlay) {
    for (const fs::path& path :
         {overlay.lower_layer, overlay.upper_layer, overlay.work, overlay.mount_point}) {
        make_directories(path);
    }
    const fs::path lower = fs::absolute(overlay.lower_layer);
    const fs::path upper = fs::absolute(overlay.upper_layer);
    const fs::path work = fs::absolute(overlay.work);
    const fs::path parent = common_parent({lower, upper, work});
    // With userxattr there are no redirects and no metadata-only copies, which sync_tree does not
    // support, and attributes are user.overlay.* (Documentation/filesystems/overlayfs.rst of
    // Linux).
    const std::string options = fmt::format("lowerdir={},upperdir={},workdir={},userxattr{}",
                                            lower.lexically_relative(parent).string(),
                                            upper.lexically_relative(parent).string(),
                                            work.lexically_relative(parent).string(), overlay.more);
    require_marks(upper);
    if (const int code = mount_in(parent, fs::absolute(overlay.mount_point), options); code != 0) {
        throw errno_error(
            "cannot mount the image's root (overlayfs) at " + overlay.mount_point.string(), code)
            .hinted(code == EPERM || code == EACCES
                        ? "inside a container, its seccomp profile has to allow mount(2), and the "
                          "kernel must be 5.11 or newer: docs/pipelines.md"
                        : other_file_system);
    }
}

void unmount(const fs::path& root) noexcept {
    if (!root.empty() && ::umount2(root.c_str(), UMOUNT_NOFOLLOW) != 0) {
        ::umount2(root.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    }
}

}  // namespace

void make_upper(const fs::path& upper, unsigned mode) {
    make_directories(upper);
    if (::chmod(upper.c_str(), mode) != 0 || ::chown(upper.c_str(), 0, 0) != 0) {
        throw errno_error(upper.string(), errno);
    }
}

void unmount_stale(const fs::path& root) {
    while (::umount2(root.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
}

RootMount::RootMount(const fs::path& lower, const fs::path& upper, const fs::path& work,
                     const fs::path& root)
    : root_(root) {
    try {
        mount_overlay({lower, upper, work, root, ""});
    } catch (const Error&) {
        root_.clear();
        throw;
    }
}

RootMount::RootMount(RootMount&& other) noexcept : root_(std::move(other.root_)) {
    other.root_.clear();
}

RootMount& RootMount::operator=(RootMount&& other) noexcept {
    std::swap(root_, other.root_);
    return *this;
}

RootMount::~RootMount() {
    unmount(root_);
}

VisibleFiles::VisibleFiles(const Context& ctx) : path_(fs::absolute(ctx.work() / "visible")) {
    const fs::path place = ctx.work() / "visible-files";
    // Nothing of it has to be on the disk: what a killed build leaves is removed.
    mount_overlay({place / "lower", place / "upper", place / "work", path_, ",volatile"});
}

VisibleFiles::~VisibleFiles() {
    unmount(path_);
}

}  // namespace edgegpu
