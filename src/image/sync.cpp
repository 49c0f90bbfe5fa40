#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image/capabilities.hpp"
#include "image/image_root.hpp"
#include "image/overlay.hpp"
#include "image/tree.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file_content.hpp"

namespace edgegpu {

namespace {

/// Largest file of an image: reading and compressing a larger one, which may be sparse, would take
/// hours.
constexpr std::uint64_t most_bytes = 64ULL << 30U;

Entry entry_of(const struct stat& status, EntryType type) {
    Entry entry;
    entry.type = type;
    entry.mode = status.st_mode & 07777U;
    entry.uid = status.st_uid;
    entry.gid = status.st_gid;
    return entry;
}

std::string digest_of(int file, const std::string& path) {
    Sha256 digest;
    each_piece(file, path + " of the image", [&](std::string_view piece) { digest.update(piece); });
    return digest.hex();
}

/// Walks the upper layer of an overlay (Documentation/filesystems/overlayfs.rst of Linux).
class Synchroniser {
public:
    Synchroniser(const Context& ctx, Entries& entries, const ImageRoot& upper)
        : ctx_(ctx), entries_(entries), upper_(upper) {}

    void take_all() {
        directory("/", *upper_.status("/"));
        upper_.walk("/", [this](const std::string& path, const struct stat& status) {
            ctx_.check_cancelled();
            if (S_ISDIR(status.st_mode)) {
                directory(path, status);
            } else {
                other(path, status);
            }
        });
    }

private:
    void directory(const std::string& path, const struct stat& status) {
        const auto old = entries_.find(path);
        if ((old != entries_.end() && old->second.type != EntryType::directory) ||
            upper_.attribute(path, opaque_mark) == "y") {
            erase_subtree(entries_, path);
        }
        entries_[path] = entry_of(status, EntryType::directory);
    }

    void other(const std::string& path, const struct stat& status) {
        const bool whiteout = S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
        if (whiteout || is_directory(path)) {
            erase_subtree(entries_, path);
        }
        if (S_ISREG(status.st_mode)) {
            entries_[path] = file(path, status);
        } else if (S_ISLNK(status.st_mode)) {
            Entry entry = entry_of(status, EntryType::symlink);
            entry.mode = 0777;
            entry.target = upper_.read_link(path);
            entries_[path] = std::move(entry);
        } else if (!whiteout) {
            erase_subtree(entries_, path);
            ctx_.console->warn_of(
                "left out, as an ostree commit cannot contain devices, fifos and sockets", path);
        }
    }

    /// The entry of a file. Content that the tree has already (a copy because the owner changed) is
    /// not stored again.
    Entry file(const std::string& path, const struct stat& status) {
        Entry entry = entry_of(status, EntryType::file);
        entry.size = static_cast<std::uint64_t>(status.st_size);
        if (entry.size > most_bytes) {
            throw error("{} of the image: {} bytes are more than the {} that a file may have", path,
                        entry.size, most_bytes)
                .hinted("a scriptlet of a package made it; leave the package out");
        }
        entry.capabilities = without_namespace(upper_.attribute(path, "security.capability"), path);
        const Fd content = upper_.open_file(path, LastLink::not_followed);
        const auto old = entries_.find(path);
        if (old != entries_.end() && old->second.type == EntryType::file &&
            old->second.size == entry.size &&
            digest_of(content.get(), path) == old->second.digest) {
            entry.digest = old->second.digest;
            entry.content = old->second.content;
            return entry;
        }
        Entry stored = make_file_entry_from(ctx_, content.get(), path, entry.mode);
        entry.size = stored.size;
        entry.digest = std::move(stored.digest);
        entry.content = std::move(stored.content);
        return entry;
    }

    [[nodiscard]] bool is_directory(const std::string& path) const {
        const auto found = entries_.find(path);
        return found != entries_.end() && found->second.type == EntryType::directory;
    }

    const Context& ctx_;
    Entries& entries_;
    const ImageRoot& upper_;
};

}  // namespace

void sync_tree(const Context& ctx, Tree& tree) {
    const ImageRoot upper(tree.upper);
    Synchroniser(ctx, tree.entries, upper).take_all();
}

}  // namespace edgegpu
