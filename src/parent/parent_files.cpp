#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cache/store.hpp"
#include "execution/parallel.hpp"
#include "image/kept_entries.hpp"
#include "parent/parent_image.hpp"
#include "repository/file_object.hpp"
#include "repository/object_check.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

/// Of a file, in bytes.
constexpr std::uint64_t most_in_memory = 8U << 20U;
constexpr std::size_t read_piece = 128UL * 1024;
constexpr const char* capability_name = "security.capability";

/// The capabilities among an object's attributes; throws for one that no image of edgegpu has.
std::string capabilities_of(GVariant* attributes, std::string_view path) {
    std::string capabilities;
    for (const auto& [key, value] : extended_attributes(attributes)) {
        if (key == capability_name) {
            capabilities = value;
        } else if (key != "security.selinux") {
            throw error("{} of the parent has the extended attribute {}, which would be lost", path,
                        key)
                .hinted("a parent can have security.selinux and security.capability");
        }
    }
    return capabilities;
}

/// By the commit's checksum; each has a file `entries` (format_entries).
constexpr StoreKind kept_files{"parent-files", EntryKind::parent};
constexpr const char* entries_name = "entries";

/// A file or directory that waits for being read.
struct WaitingNode {
    std::string path;
    CommitNode node;
};

class ParentReading {
public:
    ParentReading(const Context& ctx, const RepositoryView& repository, const CommitView& commit,
                  const std::string& remedy)
        : ctx_(ctx), repository_(repository), commit_(commit), remedy_(remedy) {}

    Entries run() {
        std::vector<WaitingNode> directories{{"/", commit_.root()}};
        std::vector<WaitingNode> files;
        while (!directories.empty()) {
            ctx_.check_cancelled();
            const WaitingNode directory = std::move(directories.back());
            directories.pop_back();
            entries_.emplace(directory.path, read_directory(directory));
            for (auto& [name, node] : commit_.list(directory.node, directory.path)) {
                std::string path =
                    fmt::format("{}/{}", directory.path == "/" ? "" : directory.path, name);
                (node.directory ? directories : files).push_back({std::move(path), node});
            }
        }
        std::vector<Entry> read(files.size());
        std::atomic<std::size_t> done{0};
        parallel_for(ctx_, files.size(), [&](std::size_t i) {
            read[i] = read_file(files[i]);
            const std::size_t count = ++done;
            if (ctx_.console != nullptr && count % 64 == 0) {
                ctx_.console->progress(count, files.size(), "files of the parent");
            }
        });
        for (std::size_t i = 0; i < files.size(); ++i) {
            entries_.emplace(std::move(files[i].path), std::move(read[i]));
        }
        return std::move(entries_);
    }

private:
    [[nodiscard]] Error damaged(std::string_view path, std::string_view what) const {
        return error("{}: commit {}: the object of {} is damaged: {}", repository_.path(),
                     commit_.info().checksum, path, what)
            .hinted(remedy_);
    }

    void require(OstreeObjectType type, const std::string& checksum, const std::string& path) {
        const CheckedObject found = check_object(repository_.handle(), {type, checksum, path});
        if (found.state != ObjectState::good) {
            throw damaged(path, name_of(found.state));
        }
    }

    Entry read_directory(const WaitingNode& directory) {
        require(OSTREE_OBJECT_TYPE_DIR_TREE, directory.node.checksum, directory.path);
        require(OSTREE_OBJECT_TYPE_DIR_META, directory.node.meta, directory.path);
        const CommitPath described = commit_.describe(directory.node, directory.path);
        if (!described.attributes.empty()) {
            throw error("{} of the parent has extended attributes, which would be lost",
                        directory.path)
                .hinted("directories of a parent can have security.selinux");
        }
        Entry entry;
        entry.type = EntryType::directory;
        entry.mode = described.mode;
        entry.uid = described.uid;
        entry.gid = described.gid;
        return entry;
    }

    /// Gives the object's content to `use` in pieces; compares it with its checksum.
    template <typename Use>
    void read_content(const FileObject& object, const std::string& path, const Use& use) const {
        Sha256 digest;
        digest.update(hashed_header(object));
        std::array<char, read_piece> buffer{};
        while (object.content) {
            ctx_.check_cancelled();
            GlibFailure failure;
            const gssize got = g_input_stream_read(object.content.get(), buffer.data(),
                                                   buffer.size(), nullptr, failure.out());
            if (got < 0) {
                throw commit_.unreadable(failure, object.described.checksum, path);
            }
            if (got == 0) {
                break;
            }
            const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
            digest.update(piece);
            use(piece);
        }
        if (digest.hex() != object.described.checksum) {
            throw damaged(path, "it has another checksum");
        }
    }

    [[nodiscard]] Entry read_small(const FileObject& object, const std::string& path) const {
        std::string content;
        content.reserve(object.described.size);
        read_content(object, path, [&](std::string_view piece) {
            content.append(piece);
            if (content.size() > object.described.size) {
                throw damaged(path, "it is larger than it says");
            }
        });
        return make_file_entry(ctx_, content, object.described.mode);
    }

    /// A large file by way of the disk: several are read at a time.
    [[nodiscard]] Entry read_large(const FileObject& object, const std::string& path) const {
        std::string scratch = (ctx_.work() / "parent.XXXXXX").string();
        const Fd file(::mkostemp(scratch.data(), O_CLOEXEC));
        if (!file) {
            throw errno_error(scratch, errno);
        }
        ::unlink(scratch.c_str());
        read_content(object, path, [&](std::string_view piece) {
            if (!write_all(file.get(), piece)) {
                throw errno_error(scratch, errno);
            }
        });
        return make_file_entry_from(ctx_, file.get(), path, object.described.mode);
    }

    [[nodiscard]] Entry read_file(const WaitingNode& file) const {
        const FileObject object = commit_.load_file(file.node.checksum, file.path);
        const CommitPath& described = object.described;
        Entry entry;
        if (described.type == EntryType::symlink) {
            read_content(object, file.path, [](std::string_view) {});
            entry = link_to(described.target);
        } else {
            entry = described.size <= most_in_memory ? read_small(object, file.path)
                                                     : read_large(object, file.path);
            entry.capabilities = capabilities_of(object.attributes.get(), file.path);
        }
        entry.uid = described.uid;
        entry.gid = described.gid;
        return entry;
    }

    const Context& ctx_;
    const RepositoryView& repository_;
    const CommitView& commit_;
    const std::string& remedy_;
    Entries entries_;
};

}  // namespace

Entries ParentImage::read_files(const Context& ctx) const {
    return find_or_make(
        ctx, kept_files, info().checksum, "is reading the files of the same parent",
        [&](const StoredEntry& entry) {
            const std::string* text = entry.find(entries_name);
            return text != nullptr ? parse_entries(ctx, *text) : std::nullopt;
        },
        [&](NewEntry& entry) {
            Entries files = ParentReading(ctx, repository_, commit_, remedy_).run();
            if (const auto text = format_entries(ctx, files)) {
                entry.add(entries_name, *text);
            } else {
                entry.forget();
            }
            return files;
        });
}

}  // namespace edgegpu
