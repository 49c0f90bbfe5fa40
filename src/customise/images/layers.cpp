#include "customise/images/layers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blueprint/sources/overlay_archive.hpp"
#include "cache/store.hpp"
#include "image/kept_entries.hpp"
#include "image/tree.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr StoreKind kept_images{"images", EntryKind::image};
constexpr const char* listing_name = "entries";

constexpr std::uint64_t most_bytes = 64ULL << 30U;
constexpr std::size_t most_members = 4'000'000;
/// Larger files go through the disk.
constexpr std::uint64_t most_in_memory = 4U << 20U;

constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view opaque = ".wh..wh..opq";
/// Of others than `opaque`: records of aufs.
constexpr std::string_view aufs_record = ".wh..wh.";
/// libostree makes a device of such a file when it deploys a commit.
constexpr std::string_view ostree_whiteout = ".ostree-wh.";

Entry directory_entry(unsigned mode) {
    Entry entry;
    entry.type = EntryType::directory;
    entry.mode = mode;
    return entry;
}

std::string parent_of_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view name_of_path(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::string below(const std::string& directory, std::string_view name) {
    return (directory == "/" ? "" : directory) + '/' + std::string(name);
}

/// An image's layers, one upon the other.
class LayeredFiles {
public:
    LayeredFiles(const Context& ctx, const StoredImage& image, fs::path scratch)
        : ctx_(ctx), image_(image), scratch_(std::move(scratch)) {
        entries_["/"] = directory_entry(0755);
    }

    void add(const StoredFile& layer) {
        layer_ = layer.digest;
        added_.clear();
        if (sha256_file(layer.path) != layer.digest) {
            remove_tree(layer.path);
            throw error(ErrorKind::fetch, "image {}: layer {} is damaged in the cache",
                        image_.called, layer.digest)
                .hinted("build again: it is downloaded again");
        }
        TarReader reader(layer.path, fmt::format("image {}: layer {}", image_.called, layer.digest),
                         "a layer is a tar archive (plain, gzip, zstd): push the image again");
        TarMember member;
        try {
            while (reader.next(member)) {
                ctx_.check_cancelled();
                add_member(reader, member);
            }
        } catch (const Error& problem) {
            // A reader of tar archives does not know whose they are.
            if (problem.kind() != ErrorKind::usage) {
                throw;
            }
            throw Error(ErrorKind::fetch, problem.message()).hinted(problem.hint());
        }
    }

    [[nodiscard]] Entries take() {
        add_mount_points();
        if (left_out_ != 0 && ctx_.console != nullptr) {
            ctx_.console->warn_of(
                "container images have devices, fifos or sockets, which are left "
                "out",
                fmt::format("{} ({})", image_.called, left_out_));
        }
        return std::move(entries_);
    }

private:
    [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
        return error(ErrorKind::fetch, "image {}: layer {}: \"{}\" {}", image_.called, layer_, name,
                     reason)
            .hinted("no engine could use such an image: build it again");
    }

    /// "/etc/x" for "./etc/x", "etc/x" and "/etc/x".
    [[nodiscard]] std::string place_of(std::string_view name) const {
        std::string path;
        for (const std::string_view part : words_of(name, "/")) {
            if (part == ".") {
                continue;
            }
            if (part == "..") {
                throw refused(name, "leaves the image (\"..\")");
            }
            path += '/';
            path += part;
        }
        if (path.find('\0') != std::string::npos) {
            throw refused(name, "has a zero byte");
        }
        return path.empty() ? "/" : path;
    }

    void add_member(TarReader& reader, const TarMember& member) {
        if (++members_ > most_members || member.size > most_bytes - bytes_) {
            throw refused(member.name, "is beyond the 64 GiB or 4,000,000 files of an image");
        }
        const std::string path = place_of(member.name);
        const std::string_view name = name_of_path(path);
        if (name.starts_with(ostree_whiteout)) {
            throw refused(member.name, "has a name that ostree would turn into a deleted file");
        }
        if (name.starts_with(whiteout)) {
            remove_lower(parent_of_path(path), name);
        } else if (!member.linked.empty()) {
            put(path, linked_entry(member));
        } else if (member.type == S_IFDIR || member.type == S_IFREG || member.type == S_IFLNK) {
            put(path, entry_of(reader, member));
        } else {
            ++left_out_;
        }
    }

    /// A whiteout deletes what layers below have, and nothing of its own layer.
    void remove_lower(const std::string& directory, std::string_view name) {
        if (name == opaque) {
            remove_old(directory, false);
        } else if (!name.starts_with(aufs_record)) {
            remove_old(below(directory, name.substr(whiteout.size())), true);
        }
    }

    void remove_old(const std::string& top, bool with_top) {
        std::vector<std::string> old;
        for (const auto& [path, entry] : entries_below(entries_, top)) {
            if (!added_.contains(path)) {
                old.push_back(path);
            }
        }
        for (const std::string& path : old) {
            entries_.erase(path);
        }
        if (with_top && !added_.contains(top) && entries_below(entries_, top).empty()) {
            entries_.erase(top);
        }
    }

    [[nodiscard]] Entry linked_entry(const TarMember& member) const {
        const auto found = entries_.find(place_of(member.linked));
        if (found == entries_.end() || found->second.type == EntryType::directory) {
            throw refused(member.name, fmt::format("is a hard link to \"{}\", which is not a file "
                                                   "before it",
                                                   member.linked));
        }
        return found->second;
    }

    [[nodiscard]] Entry entry_of(TarReader& reader, const TarMember& member) {
        constexpr std::uint64_t most_ids = std::numeric_limits<std::uint32_t>::max();
        if (member.uid >= most_ids || member.gid >= most_ids) {
            throw refused(member.name, "has an owner that Linux does not have");
        }
        Entry entry = directory_entry(member.mode);
        if (member.type == S_IFREG) {
            bytes_ += member.size;
            entry = content_of(reader, member);
            entry.capabilities = member.capabilities;
        } else if (member.type == S_IFLNK) {
            entry = link_to(member.target);
        }
        entry.uid = static_cast<std::uint32_t>(member.uid);
        entry.gid = static_cast<std::uint32_t>(member.gid);
        return entry;
    }

    [[nodiscard]] Entry content_of(TarReader& reader, const TarMember& member) const {
        if (member.size <= most_in_memory) {
            std::string content;
            content.reserve(member.size);
            reader.read([&](const char* data, std::size_t size) { content.append(data, size); });
            return make_file_entry(ctx_, content, member.mode);
        }
        const Fd file(::open(scratch_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (!file) {
            throw errno_error(scratch_.string(), errno);
        }
        reader.read([&](const char* data, std::size_t size) {
            ctx_.check_cancelled();
            while (size > 0) {
                const ssize_t put = ::write(file.get(), data, size);
                if (put < 0 && errno != EINTR) {
                    throw errno_error(scratch_.string(), errno);
                }
                data += std::max<ssize_t>(put, 0);
                size -= static_cast<std::size_t>(std::max<ssize_t>(put, 0));
            }
        });
        return make_file_entry_from(ctx_, file.get(), scratch_.string(), member.mode);
    }

    void put(const std::string& path, Entry entry) {
        if (path == "/") {
            if (entry.type != EntryType::directory) {
                throw refused(path, "is not a directory");
            }
            entries_["/"] = std::move(entry);
            return;
        }
        make_parents(path);
        const auto old = entries_.find(path);
        if (old != entries_.end() &&
            !(old->second.type == EntryType::directory && entry.type == EntryType::directory)) {
            erase_subtree(entries_, path);
        }
        entries_[path] = std::move(entry);
        added_.insert(path);
    }

    /// A layer's directories replace links and files of layers below, as overlayfs shows them. A
    /// link of the same layer would be followed outside of it.
    void make_parents(const std::string& path) {
        for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
             slash = path.find('/', slash + 1)) {
            const std::string parent = path.substr(0, slash);
            const auto found = entries_.find(parent);
            if (found != entries_.end() && found->second.type == EntryType::directory) {
                continue;
            }
            if (added_.contains(parent)) {
                throw refused(path, "lies below a link or file of the same layer");
            }
            entries_[parent] = directory_entry(0755);
            added_.insert(parent);
        }
    }

    void add_missing(const std::string& path, const Entry& entry) {
        const auto parent = entries_.find(parent_of_path(path));
        if (parent != entries_.end() && parent->second.type == EntryType::directory) {
            entries_.try_emplace(path, entry);
        }
    }

    void add_mount_points() {
        for (const char* directory : {"/dev", "/etc", "/proc", "/run", "/sys"}) {
            add_missing(directory, directory_entry(0755));
        }
        const Entry empty = make_file_entry(ctx_, "", 0644);
        for (const char* file :
             {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/run/.containerenv"}) {
            add_missing(file, empty);
        }
        add_missing("/etc/mtab", link_to("/proc/mounts"));
    }

    const Context& ctx_;
    const StoredImage& image_;
    fs::path scratch_;
    Entries entries_;
    /// paths that the current layer has
    std::set<std::string, std::less<>> added_;
    /// digest of the current layer
    std::string layer_;
    std::size_t members_ = 0;
    std::uint64_t bytes_ = 0;
    std::size_t left_out_ = 0;
};

/// The layers alone determine the files.
std::string files_key(const StoredImage& image) {
    Sha256 digest;
    for (const StoredFile& layer : image.layers) {
        digest.update_field(layer.digest);
    }
    return digest.hex();
}

}  // namespace

Entries unpack_image(const Context& ctx, const StoredImage& image) {
    const std::string key = files_key(image);
    return find_or_make(
        ctx, kept_images, key, "is unpacking image " + image.called,
        [&](const StoredEntry& entry) -> std::optional<Entries> {
            const std::string* listing = entry.find(listing_name);
            return listing == nullptr ? std::nullopt : parse_entries(ctx, *listing);
        },
        [&](NewEntry& entry) {
            const fs::path scratch = ctx.work() / ("image-file-" + key);
            LayeredFiles files(ctx, image, scratch);
            for (const StoredFile& layer : image.layers) {
                files.add(layer);
            }
            Entries entries = files.take();
            std::error_code code;
            fs::remove(scratch, code);
            if (const std::optional<std::string> listing = format_entries(ctx, entries)) {
                entry.add(listing_name, *listing);
            } else {
                entry.forget();
            }
            return entries;
        });
}

}  // namespace edgegpu
