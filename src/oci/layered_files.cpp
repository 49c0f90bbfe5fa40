#include "oci/layered_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
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

#include "image/content.hpp"
#include "image/tree.hpp"
#include "oci/layer_member.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/files/tar_reader.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// How often the disk is looked at.
constexpr std::uint64_t space_interval = 64U << 20U;
/// Larger files go through the disk.
constexpr std::uint64_t most_in_memory = 4U << 20U;

constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view opaque = ".wh..wh..opq";
/// Of others than `opaque`: records of aufs.
constexpr std::string_view aufs_record = ".wh..wh.";

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

/// Compressed bytes of all layers.
std::uint64_t packed_size(const StoredImage& image) {
    std::uint64_t size = 0;
    for (const StoredFile& layer : image.layers) {
        size += layer.size;
    }
    return size;
}

/// An image's layers, one upon the other.
class LayeredFiles {
public:
    LayeredFiles(const Context& ctx, const StoredImage& image, const UnpackLimits& limits,
                 fs::path scratch, Entries files)
        : ctx_(ctx),
          image_(image),
          limits_(limits),
          scratch_(std::move(scratch)),
          entries_(std::move(files)),
          layer_{image.called, {}},
          most_bytes_(
              UnpackLimit(largest_image).with(most_unpacked(packed_size(image), limits.spare))) {
        entries_.try_emplace("/", directory_entry(0755));
    }

    /// Adds a layer whose tar archive has the SHA-256 `diff_id`.
    void add(const StoredFile& layer, const std::string& diff_id) {
        layer_.digest = layer.digest;
        added_.clear();
        if (sha256_file(layer.path) != layer.digest) {
            remove_tree(layer.path);
            throw error(ErrorKind::fetch, "image {}: layer {} is damaged in the cache",
                        image_.called, layer.digest)
                .hinted("build again: it is downloaded again");
        }
        TarReader reader({layer.path,
                          fmt::format("image {}: layer {}", image_.called, layer.digest),
                          "a layer is a tar archive (plain, or compressed once with gzip or zstd), "
                          "at most 100 times as large as it is compressed: push the image again",
                          ErrorKind::fetch, most_bytes_, true});
        TarMember member;
        while (reader.next(member)) {
            ctx_.check_cancelled();
            add_member(reader, member);
        }
        if (const std::string got = reader.finish(); got != diff_id) {
            throw error(ErrorKind::fetch,
                        "image {}: layer {} contains {}, not {} as its configuration says",
                        image_.called, layer.digest, got, diff_id)
                .hinted(
                    "its layers and its configuration (diff_ids) are not of the same image, and "
                    "engines refuse it: build and push it again");
        }
    }

    [[nodiscard]] Entries take() {
        if (left_out_ != 0 && ctx_.console != nullptr) {
            ctx_.console->warn_of(
                "container images have devices, fifos or sockets, which are left "
                "out",
                fmt::format("{} ({})", image_.called, left_out_));
        }
        return std::move(entries_);
    }

private:
    void add_member(TarReader& reader, const TarMember& member) {
        if (++members_ > limits_.entries) {
            throw too_many(member.name);
        }
        const std::string path = layer_.place_of(member.name);
        if (path == "/") {
            add_root(member);
            return;
        }
        // Other data of aufs, which hard links of its own layers refer to.
        if (path.starts_with(fmt::format("/{}", aufs_record)) &&
            path != fmt::format("/{}", opaque)) {
            return;
        }
        const std::string place = below(directory_of(member.name, path), name_of_path(path));
        const std::string_view name = name_of_path(place);
        if (name.starts_with(whiteout)) {
            remove_lower(member.name, parent_of_path(place), name);
        } else if (!member.linked.empty()) {
            put(place, linked_entry(member, place));
        } else if (member.type == S_IFDIR || member.type == S_IFREG || member.type == S_IFLNK) {
            put(place, entry_of(reader, member));
        } else {
            ++left_out_;
        }
    }

    void add_root(const TarMember& member) {
        if (member.type != S_IFDIR || !member.linked.empty()) {
            throw layer_.refused(member.name, "is not a directory");
        }
        entries_["/"] = layer_.with_owner(directory_entry(member.mode), member);
    }

    /// A whiteout deletes what layers below have, and nothing of its own layer.
    void remove_lower(std::string_view member, const std::string& directory,
                      std::string_view name) {
        if (name == opaque) {
            remove_old(directory, false);
            return;
        }
        if (name.starts_with(aufs_record)) {
            return;
        }
        const std::string_view deleted = name.substr(whiteout.size());
        if (deleted.empty() || deleted == "." || deleted == "..") {
            throw layer_.refused(member, "deletes no file (\".wh.\" is followed by its name)");
        }
        remove_old(below(directory, deleted), true);
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

    /// What `member`, a hard link at `place`, is a link to.
    [[nodiscard]] Entry linked_entry(const TarMember& member, const std::string& place) {
        const std::string path = layer_.place_of(member.linked);
        const std::string target =
            path == "/" ? path : below(directory_of(member.name, path), name_of_path(path));
        const auto found = entries_.find(target);
        if (target == place || found == entries_.end() ||
            found->second.type == EntryType::directory) {
            throw layer_.refused(member.name,
                                 fmt::format("is a hard link to \"{}\", which is not a file "
                                             "before it",
                                             member.linked));
        }
        return found->second;
    }

    [[nodiscard]] Entry entry_of(TarReader& reader, const TarMember& member) {
        if (member.type == S_IFDIR) {
            return layer_.with_owner(directory_entry(member.mode), member);
        }
        if (member.type == S_IFLNK) {
            return layer_.with_owner(layer_.link_of(member), member);
        }
        reserve(member);
        return layer_.with_owner(content_of(reader, member), member);
    }

    /// Before the content of `member` is read. The size is what its header says, holes included.
    void reserve(const TarMember& member) {
        if (member.size > most_bytes_.bytes - bytes_) {
            throw layer_.refused(member.name,
                                 fmt::format("makes the image larger than {}{}",
                                             human_size(most_bytes_.bytes), most_bytes_.reason));
        }
        bytes_ += member.size;
        unseen_ += member.size;
        if (unseen_ >= space_interval) {
            // A large file is there twice until the cache has it.
            require_space(ctx_.cache, unseen_ + (member.size > most_in_memory ? member.size : 0),
                          "image " + image_.called, ErrorKind::fetch);
            unseen_ = 0;
        }
    }

    [[nodiscard]] Entry content_of(TarReader& reader, const TarMember& member) const {
        if (member.size <= most_in_memory) {
            std::string content;
            content.reserve(member.size);
            reader.read([&](const char* data, std::size_t size) { content.append(data, size); });
            return make_file_entry(ctx_, content, member.mode);
        }
        const Fd file = open_file(scratch_, O_RDWR | O_CREAT | O_TRUNC, 0600);
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

    /// `path` is not "/"; its directory exists.
    void put(const std::string& path, Entry entry) {
        const auto old = entries_.find(path);
        if (old != entries_.end() &&
            !(old->second.type == EntryType::directory && entry.type == EntryType::directory)) {
            erase_subtree(entries_, path);
        }
        insert(path, std::move(entry));
    }

    void insert(const std::string& path, Entry entry) {
        entries_[path] = std::move(entry);
        added_.insert(path);
        path_bytes_ += path.size();
        if (entries_.size() > limits_.entries || path_bytes_ > limits_.path_bytes) {
            throw too_many(path);
        }
    }

    [[nodiscard]] Error too_many(std::string_view name) const {
        return layer_.refused(name, fmt::format("is beyond the {} files, or {} of paths, that an "
                                                "image may have",
                                                limits_.entries, human_size(limits_.path_bytes)));
    }

    /// The directory of a path, made if there is none. As where engines unpack into an empty
    /// directory (containers/storage, docker), links of the same layer are followed, within the
    /// image; links and files of layers below are replaced, as overlayfs shows it.
    [[nodiscard]] std::string directory_of(std::string_view member, const std::string& path) {
        std::string directory = "/";
        const std::vector<std::string_view> parts = words_of(path, "/");
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            directory = enter(member, below(directory, parts[i]));
        }
        return directory;
    }

    [[nodiscard]] std::string enter(std::string_view member, const std::string& directory) {
        const auto found = entries_.find(directory);
        if (found != entries_.end() && found->second.type == EntryType::directory) {
            return directory;
        }
        if (name_of_path(directory).starts_with(whiteout)) {
            throw layer_.refused(member, "lies below a file that marks another as deleted");
        }
        if (!added_.contains(directory)) {
            insert(directory, directory_entry(0755));
            return directory;
        }
        const bool is_link = found != entries_.end() && found->second.type == EntryType::symlink;
        if (!is_link) {
            throw layer_.refused(member,
                                 fmt::format("lies below {}, a file of the same layer", directory));
        }
        std::string target = end_of_link(member, directory);
        const auto end = entries_.find(target);
        if (end == entries_.end() || end->second.type != EntryType::directory) {
            throw layer_.refused(member,
                                 fmt::format("lies below {}, a link of the same layer to {}, which "
                                             "is not a directory",
                                             directory, target));
        }
        return target;
    }

    [[nodiscard]] std::string end_of_link(std::string_view member, const std::string& link) const {
        try {
            return resolve_in_entries(entries_, link, true);
        } catch (const Error&) {
            throw layer_.refused(member,
                                 fmt::format("lies below {}, a link of the same layer that leads "
                                             "to itself",
                                             link));
        }
    }

    const Context& ctx_;
    const StoredImage& image_;
    const UnpackLimits& limits_;
    fs::path scratch_;
    Entries entries_;
    /// paths that the current layer has
    std::set<std::string, std::less<>> added_;
    /// the current one
    ImageLayer layer_;
    std::size_t members_ = 0;
    std::uint64_t path_bytes_ = 0;
    UnpackLimit most_bytes_;
    std::uint64_t bytes_ = 0;
    /// since `require_space`
    std::uint64_t unseen_ = 0;
    std::size_t left_out_ = 0;
};

}  // namespace

Entries apply_layers(const Context& ctx, const StoredImage& image, const UnpackLimits& limits,
                     std::size_t first, Entries files) {
    const fs::path scratch = ctx.work() / ("image-file-" + image.digest);
    LayeredFiles layered(ctx, image, limits, scratch, std::move(files));
    for (std::size_t i = first; i < image.layers.size(); ++i) {
        layered.add(image.layers[i], image.diff_ids.at(i));
    }
    std::error_code code;
    fs::remove(scratch, code);
    return layered.take();
}

}  // namespace edgegpu
