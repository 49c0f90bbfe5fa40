#include "repository/check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "image/id_map.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/foreign_access.hpp"
#include "support/handles.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// What has one name in every repository, in the order in which it is looked at.
constexpr std::array known_directories{"edgegpu-locks",
                                       "extensions",
                                       "objects",
                                       "refs",
                                       "refs/heads",
                                       "refs/mirrors",
                                       "refs/remotes",
                                       "state",
                                       "tmp",
                                       "tmp/cache",
                                       "uncompressed-objects-cache"};
constexpr std::array known_files{".lock", "config", "summary", "summary.sig"};
/// Directories of which every file may be opened.
constexpr std::array known_trees{"delta-indexes", "deltas", "edgegpu-locks", "refs"};
constexpr unsigned deepest_level = 64;

/// libostree reads it into memory, as it does refs.
constexpr off_t largest_config = 1U << 20U;

/// Deleted meanwhile, or not to be opened by this user, and therefore by nothing in this process.
bool is_out_of_sight(int code) {
    return code == ENOENT || code == EACCES;
}

/// A path below the repository and what is there.
struct Found {
    std::string path;
    struct stat status {};
};

/// Calls `visit` with everything that has to be looked at, as far as it exists.
class Walk {
public:
    Walk(int repository, const std::string& shown, std::function<void(const Found&)> visit)
        : repository_(repository), shown_(shown), visit_(std::move(visit)) {}

    void all() const {
        for (const char* path : known_directories) {
            one(path, S_IFDIR);
        }
        for (const char* path : known_files) {
            one(path, S_IFREG);
        }
        for (const std::string& name : names("objects")) {
            // Others are nobody's; of these libostree opens what is in them.
            if (name.size() == 2 && is_hexadecimal(name)) {
                one("objects/" + name, S_IFDIR);
            }
        }
        for (const char* path : known_trees) {
            tree(path, 0);
        }
    }

private:
    [[nodiscard]] Error unfit(const std::string& path, std::string_view what) const {
        return error("{}/{}: {}", shown_, path, what);
    }

    void one(const std::string& path, unsigned type) const {
        Found found{path, {}};
        if (::fstatat(repository_, path.c_str(), &found.status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (is_out_of_sight(errno)) {
                return;
            }
            throw unfit(path, std::strerror(errno));
        }
        if ((found.status.st_mode & S_IFMT) != type) {
            throw unfit(path, fmt::format("is {}, and would have to be {}",
                                          kind_of(found.status.st_mode), kind_of(type)))
                .hinted(S_ISLNK(found.status.st_mode)
                            ? "links in a repository are not followed: put what it leads to into "
                              "its place, or mount it there"
                            : "the repository is damaged: remove this, or name another one with "
                              "--repo");
        }
        visit_(found);
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most deepest_level
    void tree(const std::string& path, unsigned level) const {
        if (level > deepest_level) {
            throw unfit(path, fmt::format("more than {} directories in each other", deepest_level))
                .hinted("the repository is damaged: remove them, or name another one with --repo");
        }
        for (const std::string& name : names(path)) {
            const std::string inner = path + '/' + name;
            struct stat status {};
            if (::fstatat(repository_, inner.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
                if (is_out_of_sight(errno)) {
                    continue;
                }
                throw unfit(inner, std::strerror(errno));
            }
            if (S_ISDIR(status.st_mode)) {
                one(inner, S_IFDIR);
                tree(inner, level + 1);
            } else if (!S_ISLNK(status.st_mode) || !may_be_alias(inner)) {
                one(inner, S_IFREG);
            }
        }
    }

    /// Where read_refs looks where it leads.
    static bool may_be_alias(std::string_view path) {
        return path.starts_with("refs/heads/") || path.starts_with("refs/remotes/");
    }

    /// Empty if there is no such directory.
    [[nodiscard]] std::vector<std::string> names(const std::string& path) const {
        auto found = names_in(open_at(repository_, path, O_RDONLY | O_DIRECTORY,
                                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (!found && !is_out_of_sight(errno)) {
            throw unfit(path, std::strerror(errno));
        }
        return found ? *std::move(found) : std::vector<std::string>();
    }

    int repository_;
    const std::string& shown_;
    std::function<void(const Found&)> visit_;
};

/// The name of a user, by the id that it has outside of the build's namespace.
std::string owner_name(uid_t uid) {
    std::ostringstream map;
    map << std::ifstream("/proc/self/uid_map").rdbuf();
    const std::optional<std::uint32_t> outside = id_outside(parse_id_map(map.str()), uid);
    return outside ? name_of_user(*outside) : "another user";
}

/// Judges who can write to what is there.
class Writers {
public:
    Writers(int repository, const struct stat& top, const std::string& shown)
        : repository_(repository), top_(top), shown_(shown) {
        std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
        groups.resize(static_cast<std::size_t>(
            std::max(::getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
        groups.push_back(::getegid());
        const bool member = std::ranges::find(groups, top.st_gid) != groups.end();
        const OtherWriters writers = writers_of({".", top});
        shared_ = writers == OtherWriters::group && (is_own(top) || member);
        if (!is_own(top) && !shared_) {
            throw foreign("", top);
        }
        judge_others("", writers);
    }

    void judge(const Found& found) const {
        if (!is_own(found.status) && !shared_) {
            throw foreign(found.path, found.status);
        }
        const OtherWriters writers = writers_of(found);
        if (writers == OtherWriters::group && !(shared_ && found.status.st_gid == top_.st_gid)) {
            throw refused(found.path,
                          "a group can write to it that the repository is not shared with",
                          "chmod -R g-w");
        }
        judge_others(found.path, writers);
    }

    [[nodiscard]] Sharing sharing() const { return shared_ ? Sharing::group : Sharing::none; }

private:
    /// Root may write to everything anyway. In the build's namespace 0 is the image's root, and the
    /// machine's has no id unless it is the caller: an ordinary user cannot write to what is
    /// root's.
    static bool is_own(const struct stat& status) {
        return status.st_uid == ::geteuid() || (status.st_uid == 0 && ::geteuid() != caller_id);
    }

    [[nodiscard]] OtherWriters writers_of(const Found& found) const {
        return other_writers(path_of_descriptor(repository_) / found.path, found.status);
    }

    void judge_others(const std::string& path, OtherWriters writers) const {
        if (writers == OtherWriters::everybody) {
            throw writable_by_all(path);
        }
        if (writers == OtherWriters::listed) {
            throw refused(path, "whom its access control list names can write to it",
                          "setfacl -R -b");
        }
    }

    [[nodiscard]] Error writable_by_all(const std::string& path) const {
        static constexpr std::string_view elsewhere =
            "use ext4, XFS or btrfs; for a stick with FAT or exFAT, edgegpu export writes a file";
        // FAT, exFAT and NTFS have no modes; what a program has (FUSE) can be one of them.
        constexpr std::array<unsigned long, 4> without_modes{0x4d44, 0x2011bab0, 0x5346544e,
                                                             0x7366746e};
        constexpr unsigned long of_program = 0x65735546;
        struct statfs found {};
        const auto type =
            ::fstatfs(repository_, &found) == 0 ? static_cast<unsigned long>(found.f_type) : 0UL;
        if (std::ranges::find(without_modes, type) != without_modes.end()) {
            return error("{}: every user can write to it, and its file system has no modes",
                         name_of(path))
                .hinted(std::string(elsewhere));
        }
        Error failure = refused(path, "every user can write to it", "chmod -R o-w");
        if (type == of_program) {
            failure.hinted(
                fmt::format("{}; if that changes nothing, its file system has no modes: {}",
                            failure.hint(), elsewhere));
        }
        return failure;
    }

    [[nodiscard]] std::string name_of(const std::string& path) const {
        return path.empty() ? shown_ : shown_ + '/' + path;
    }

    [[nodiscard]] Error refused(const std::string& path, std::string_view why,
                                std::string_view command) const {
        return error("{}: {}", name_of(path), why)
            .hinted(
                fmt::format("{} {}, after a look at what is in it", command, shell_word(shown_)));
    }

    [[nodiscard]] Error foreign(const std::string& path, const struct stat& status) const {
        return error("{}: belongs to {}, who could change what is built and signed here",
                     name_of(path), owner_name(status.st_uid))
            .hinted(
                "build as that user, name a repository of your own with --repo, or share this "
                "one with a group that you are in (docs/command-line.md)");
    }

    int repository_;
    const struct stat& top_;
    const std::string& shown_;
    bool shared_ = false;
};

}  // namespace

void check_repository(int repository, const std::string& shown) {
    Walk(repository, shown, [&](const Found& found) {
        const bool ref = found.path.starts_with("refs/") && S_ISREG(found.status.st_mode);
        if (found.status.st_size > largest_config && (ref || found.path == "config")) {
            throw error("{}/{}: {} bytes, more than any has", shown, found.path,
                        found.status.st_size)
                .hinted("the repository is damaged: remove this, or name another one with --repo");
        }
    }).all();
    static_cast<void>(read_refs(repository, shown));
}

Sharing check_writers(int repository, const std::string& shown) {
    const struct stat top = status_of(repository, shown);
    const Writers writers(repository, top, shown);
    Walk(repository, shown, [&](const Found& found) { writers.judge(found); }).all();
    return writers.sharing();
}

}  // namespace edgegpu
