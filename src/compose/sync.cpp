#include <cerrno>
#include <optional>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "compose/content.hpp"
#include "compose/overlay.hpp"
#include "compose/tree.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

struct stat stat_of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        throw errno_error(path.string(), errno);
    }
    return status;
}

Entry entry_of(const struct stat& status, EntryType type) {
    Entry entry;
    entry.type = type;
    entry.mode = status.st_mode & 07777U;
    entry.uid = status.st_uid;
    entry.gid = status.st_gid;
    return entry;
}

/// A file of the upper layer. Content that the tree has already (a copy made because the owner
/// changed) is not stored a second time.
Entry file_entry(const Context& ctx, const Entries& entries, const std::string& path,
                 const fs::path& source, const struct stat& status) {
    Entry entry = entry_of(status, EntryType::file);
    entry.size = static_cast<std::uint64_t>(status.st_size);
    entry.capabilities = read_attribute(source, "security.capability");
    const auto old = entries.find(path);
    if (old != entries.end() && old->second.type == EntryType::file &&
        old->second.size == entry.size && sha256_file(source) == old->second.digest) {
        entry.digest = old->second.digest;
        entry.content = old->second.content;
        return entry;
    }
    Entry stored = make_file_entry_from(ctx, source, entry.mode);
    entry.digest = std::move(stored.digest);
    entry.content = std::move(stored.content);
    return entry;
}

/// Walks the upper layer of an overlay (Documentation/filesystems/overlayfs.rst of Linux).
class Synchroniser {
public:
    Synchroniser(const Context& ctx, Entries& entries) : ctx_(ctx), entries_(entries) {}

    void directory(const std::string& path, const fs::path& source) {
        ctx_.check_cancelled();
        const struct stat status = stat_of(source);
        if (read_attribute(source, "user.overlay.opaque") == "y") {
            erase(path);
        }
        const auto old = entries_.find(path);
        if (old != entries_.end() && old->second.type != EntryType::directory) {
            erase(path);
        }
        entries_[path] = entry_of(status, EntryType::directory);
        for (const fs::directory_entry& child : fs::directory_iterator(source)) {
            const std::string name = child.path().filename().string();
            other(path == "/" ? "/" + name : path + "/" + name, child.path());
        }
    }

private:
    void other(const std::string& path, const fs::path& source) {
        const struct stat status = stat_of(source);
        if (S_ISDIR(status.st_mode)) {
            directory(path, source);
            return;
        }
        const bool whiteout = S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
        if (whiteout || is_directory(path)) {
            erase(path);
        }
        if (S_ISREG(status.st_mode)) {
            entries_[path] = file_entry(ctx_, entries_, path, source, status);
        } else if (S_ISLNK(status.st_mode)) {
            Entry entry = entry_of(status, EntryType::symlink);
            entry.mode = 0777;
            entry.target = fs::read_symlink(source).string();
            entries_[path] = std::move(entry);
        } else if (!whiteout) {
            erase(path);
            ctx_.console->warn_of("left out, as an ostree commit carries no device, fifo or socket",
                                  path);
        }
    }

    [[nodiscard]] bool is_directory(const std::string& path) const {
        const auto found = entries_.find(path);
        return found != entries_.end() && found->second.type == EntryType::directory;
    }

    void erase(const std::string& path) {
        entries_.erase(path);
        const std::string prefix = path + "/";
        auto at = entries_.lower_bound(prefix);
        while (at != entries_.end() && at->first.starts_with(prefix)) {
            at = entries_.erase(at);
        }
    }

    const Context& ctx_;
    Entries& entries_;
};

}  // namespace

std::string read_attribute(const fs::path& path, const char* name) {
    std::string value(256, '\0');
    const ssize_t size = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    if (size < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) {
        return {};
    }
    if (size < 0) {
        throw errno_error(path.string() + ": " + name, errno);
    }
    value.resize(static_cast<std::size_t>(size));
    return value;
}

void sync_tree(const Context& ctx, Tree& tree) {
    Synchroniser(ctx, tree.entries).directory("/", tree.upper);
}

}  // namespace edgegpu
