#include "rootfs/shim_mounts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Real ones have up to a few MiB.
constexpr off_t largest_program = off_t{256} << 20U;

/// Flags of a mount that a remount has to repeat: a namespace cannot clear those of mounts that it
/// inherited.
unsigned long flags_of(const std::string& place) {
    struct statvfs status {};
    if (::statvfs(place.c_str(), &status) != 0) {
        throw errno_error("cannot read the flags of a mount", errno);
    }
    constexpr std::array<std::pair<unsigned long, unsigned long>, 6> flags{
        {{ST_NOSUID, MS_NOSUID},
         {ST_NODEV, MS_NODEV},
         {ST_NOEXEC, MS_NOEXEC},
         {ST_NOATIME, MS_NOATIME},
         {ST_NODIRATIME, MS_NODIRATIME},
         {ST_RELATIME, MS_RELATIME}}};
    unsigned long found = 0;
    for (const auto& [seen, wanted] : flags) {
        found |= (status.f_flag & seen) != 0 ? wanted : 0;
    }
    return found;
}

/// Mounts `source` over the object that `target` is open on.
void mount_over(const fs::path& source, const Fd& target, const std::string& shown) {
    if (::mount(source.c_str(), path_of_descriptor(target.get()).c_str(), nullptr, MS_BIND,
                nullptr) != 0) {
        throw errno_error("cannot mount anything over " + shown + " of the image", errno);
    }
}

void make_read_only(const Fd& mounted, const std::string& shown) {
    const std::string place = path_of_descriptor(mounted.get());
    if (::mount(nullptr, place.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | flags_of(place),
                nullptr) != 0) {
        throw errno_error("cannot make what is mounted over " + shown + " read-only", errno);
    }
}

/// Unmounts and closes an open mount. Errors are ignored: the mount may be gone, because a program
/// removed its mount point.
void unmount(Fd& mounted) noexcept {
    if (mounted) {
        std::array<char, 32> place{};
        const auto end =
            fmt::format_to_n(place.data(), place.size() - 1, "/proc/self/fd/{}", mounted.get());
        *end.out = '\0';
        ::umount2(place.data(), MNT_DETACH);
        mounted.reset();
    }
}

}  // namespace

ShimMounts::ShimMounts(fs::path shim, fs::path originals,
                       const std::vector<CoveredProgram>& programs)
    : shim_(std::move(shim)), originals_(std::move(originals)) {
    make_directories(originals_);
    for (const CoveredProgram& program : programs) {
        covers_.push_back({program, {}});
    }
}

ShimMounts::~ShimMounts() {
    uncover();
}

void ShimMounts::cover(const ImageRoot& root) {
    if (std::ranges::all_of(covers_, [&](const Cover& cover) { return stands(root, cover); })) {
        return;
    }
    // Start over: a path may now resolve to a program that is covered under another path.
    uncover();
    const std::vector<Fd> programs = mapped(covers_, [&](const Cover& cover) {
        return root.has_file(cover.program.path) ? root.open_path(cover.program.path) : Fd();
    });
    for (std::size_t i = 0; i < covers_.size(); ++i) {
        if (programs[i]) {
            copy(programs[i], covers_[i].program.name);
        }
    }
    // Each program only once: a second mount over it would hide the first from its path.
    std::set<std::pair<dev_t, ino_t>> covered;
    for (std::size_t i = 0; i < covers_.size(); ++i) {
        if (!programs[i]) {
            continue;
        }
        const std::string& path = covers_[i].program.path;
        const struct stat status = status_of(programs[i].get(), path);
        if (covered.emplace(status.st_dev, status.st_ino).second) {
            mount_over(shim_, programs[i], path);
            covers_[i].shim = root.open_path(path);
            make_read_only(covers_[i].shim, path);
        } else {
            covers_[i].shim = root.open_path(path);
        }
    }
}

void ShimMounts::uncover() noexcept {
    for (Cover& cover : covers_) {
        unmount(cover.shim);
    }
}

bool ShimMounts::stands(const ImageRoot& root, const Cover& cover) const {
    const std::optional<struct stat> found = root.status(cover.program.path, LastLink::followed);
    struct stat shim {};
    if (!cover.shim || ::fstat(cover.shim.get(), &shim) != 0) {
        return !found || !S_ISREG(found->st_mode);
    }
    return found && found->st_dev == shim.st_dev && found->st_ino == shim.st_ino;
}

void ShimMounts::copy(const Fd& program, const std::string& name) const {
    const fs::path original = originals_ / name;
    struct stat status {};
    const Fd source(::open(path_of_descriptor(program.get()).c_str(), O_RDONLY | O_CLOEXEC));
    if (source && ::fstat(source.get(), &status) == 0 && status.st_size > largest_program) {
        // A scriptlet may have made it as large as it likes, with holes that a copy does not have.
        throw error("{} of the image has {} bytes: it is no program", name, status.st_size)
            .hinted("a package or a scriptlet replaced it");
    }
    // A new file each time: a program that a straggler still runs cannot be written to.
    ::unlink(original.c_str());
    const Fd target(
        ::open(original.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!source || !target) {
        throw errno_error(original.string(), errno);
    }
    copy_content(source.get(), target.get(), original.string(), largest_program);
    // Scriptlets are root: no set-id program lies in the builder's directories for them.
    if (::fchmod(target.get(), status.st_mode & 0777U) != 0) {
        throw errno_error(original.string(), errno);
    }
}

}  // namespace edgegpu
