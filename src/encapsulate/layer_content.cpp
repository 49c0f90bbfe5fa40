#include "encapsulate/layer_content.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "commit/object.hpp"
#include "repository/file_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

constexpr const char* repository_path = "sysroot/ostree/repo";
constexpr std::string_view repository_config = "[core]\nrepo_version=1\nmode=bare-split-xattrs\n";
constexpr TarAttributes plain_directory{0755, 0, 0};
constexpr TarAttributes plain_file{0644, 0, 0};
/// What importers take, in bytes.
constexpr std::size_t largest_attributes = 1U << 20U;
constexpr std::size_t read_piece = 128UL * 1024;

std::string object_in_image(std::string_view checksum, std::string_view extension) {
    return fmt::format("{}/objects/{}", repository_path, object_path(checksum, extension));
}

/// A time that other content has not, before 2004. transactional-update copies with `rsync
/// --archive`, which takes a file of the same size and time for the same one.
std::int64_t time_of_content(const std::string& checksum) {
    constexpr std::size_t digits = 8;
    constexpr std::uint32_t latest = (1U << 30U) - 1;
    return whole_number<std::uint32_t>(std::string_view(checksum).substr(0, digits), 16)
               .value_or(0) &
           latest;
}

/// The object's extended attributes; a device labels its files itself.
std::vector<std::pair<std::string, std::string>> attributes_in_layer(const FileObject& file) {
    std::vector<std::pair<std::string, std::string>> all =
        extended_attributes(file.attributes.get());
    std::erase_if(all, [](const auto& one) { return one.first == "security.selinux"; });
    return all;
}

class LayerWriter {
public:
    LayerWriter(const LayerSource& source, TarWriter& tar) : source_(source), tar_(tar) {}

    void repository() {
        for (const char* path :
             {"sysroot", "sysroot/ostree", "sysroot/ostree/repo", "sysroot/ostree/repo/objects"}) {
            tar_.directory(path, plain_directory);
        }
        for (unsigned i = 0; i < 256; ++i) {
            tar_.directory(fmt::format("{}/objects/{:02x}", repository_path, i), plain_directory);
        }
        for (const char* name : {"extensions", "refs", "refs/heads", "refs/mirrors", "refs/remotes",
                                 "state", "tmp", "tmp/cache"}) {
            tar_.directory(fmt::format("{}/{}", repository_path, name), plain_directory);
        }
        tar_.file(fmt::format("{}/config", repository_path), plain_file, repository_config);
    }

    void commit_object() {
        metadata(OSTREE_OBJECT_TYPE_COMMIT, source_.commit.info().checksum, "/");
        if (const VariantHandle detached = source_.commit.detached_metadata()) {
            tar_.file(object_in_image(source_.commit.info().checksum, "commitmeta"), plain_file,
                      edgegpu::bytes_of(detached.get()));
        }
    }

    void directories() {
        bool has_temporary = false;
        for (const TreeDirectory& directory : source_.tree.directories) {
            source_.ctx.check_cancelled();
            metadata(OSTREE_OBJECT_TYPE_DIR_META, directory.meta, directory.path);
            metadata(OSTREE_OBJECT_TYPE_DIR_TREE, directory.tree, directory.path);
            if (const std::string path = path_in_image(directory.path, system()); !path.empty()) {
                tar_.directory(path, directory.attributes);
                has_temporary = has_temporary || path == "var/tmp";
            }
        }
        if (!has_temporary) {
            tar_.directory("var/tmp", {01777, 0, 0});
        }
    }

    /// Directories that lead to the paths of these objects.
    void parents_of(const std::vector<std::string>& objects) {
        std::set<std::string, std::less<>> needed;
        for (const std::string& checksum : objects) {
            for (std::string_view path : source_.tree.objects.at(checksum).paths) {
                for (path = path.substr(0, path.rfind('/'));
                     !path.empty() && !needed.contains(path);
                     path = path.substr(0, path.rfind('/'))) {
                    needed.emplace(path);
                }
            }
        }
        for (const TreeDirectory& directory : source_.tree.directories) {
            const std::string path = path_in_image(directory.path, system());
            if (!path.empty() && needed.contains(directory.path)) {
                tar_.directory(path, directory.attributes);
            }
        }
    }

    void content(const std::vector<std::string>& objects) {
        for (const std::string& checksum : objects) {
            source_.ctx.check_cancelled();
            const ContentObject& object = source_.tree.objects.at(checksum);
            const FileObject file = source_.commit.load_file(checksum, object.paths.front());
            const CommitPath& described = file.described;
            const TarAttributes attributes{described.mode, described.uid, described.gid};
            this->attributes(file, object.paths.front());
            const std::string target = object_in_image(checksum, "file");
            write_verified(file, object.paths.front(), target, attributes);
            for (const std::string& path : object.paths) {
                const std::string name = path_in_image(path, system());
                if (name.empty()) {
                    continue;
                }
                // Whoever writes to an empty file of a container must not change the object.
                if (described.type == EntryType::file && described.size == 0) {
                    tar_.file(name, attributes, {});
                } else {
                    tar_.hard_link(name, attributes, target);
                }
            }
        }
    }

    /// The directories of the tree alone, as an image for snapshots has them.
    void plain_directories() {
        tar_.directory("./", source_.tree.directories.front().attributes);
        for (const TreeDirectory& directory : source_.tree.directories) {
            if (const std::string path = path_in_image(directory.path, system()); !path.empty()) {
                tar_.directory(path, directory.attributes);
            }
        }
    }

    /// A copy for each path: who writes to a file of a snapshot must not change an equal one.
    void plain_content(const std::vector<std::string>& objects) {
        for (const std::string& checksum : objects) {
            for (const std::string& path : source_.tree.objects.at(checksum).paths) {
                source_.ctx.check_cancelled();
                const FileObject file = source_.commit.load_file(checksum, path);
                const CommitPath& described = file.described;
                write_verified(file, path, path_in_image(path, system()),
                               {described.mode, described.uid, described.gid,
                                time_of_content(checksum), attributes_in_layer(file)});
            }
        }
    }

private:
    [[nodiscard]] UpdateSystem system() const { return source_.commit.info().update_system; }

    /// A metadata object, once.
    void metadata(OstreeObjectType type, const std::string& checksum, const std::string& path) {
        std::string name = object_in_image(checksum, ostree_object_type_to_string(type));
        if (!written_.insert(name).second) {
            return;
        }
        const VariantHandle object = source_.commit.load(type, checksum, path);
        const std::string_view bytes = edgegpu::bytes_of(object.get());
        if (sha256_hex(bytes) != checksum) {
            throw source_.commit.malformed(path, "it does not have its checksum");
        }
        tar_.file(name, plain_file, bytes);
    }

    void attributes(const FileObject& file, const std::string& path) {
        const std::string_view bytes = edgegpu::bytes_of(file.attributes.get());
        if (bytes.size() > largest_attributes) {
            throw source_.commit.malformed(path, "extended attributes of more than 1 MiB");
        }
        const std::string name = object_in_image(sha256_hex(bytes), "file-xattrs");
        if (written_.insert(name).second) {
            tar_.file(name, plain_file, bytes);
        }
        tar_.hard_link(object_in_image(file.described.checksum, "file-xattrs-link"), plain_file,
                       name);
    }

    void write_verified(const FileObject& file, const std::string& path, const std::string& name,
                        const TarAttributes& attributes) {
        Sha256 digest;
        digest.update(hashed_header(file));
        if (file.described.type == EntryType::symlink) {
            tar_.symlink(name, attributes, file.described.target);
        } else {
            tar_.begin_file(name, attributes, file.described.size);
            copy(file, path, digest);
        }
        if (digest.hex() != file.described.checksum) {
            throw source_.commit.malformed(path, "it does not have its checksum");
        }
    }

    void copy(const FileObject& file, const std::string& path, Sha256& digest) {
        std::array<char, read_piece> buffer{};
        std::uint64_t left = file.described.size;
        while (true) {
            source_.ctx.check_cancelled();
            GlibFailure failure;
            const gssize got = g_input_stream_read(file.content.get(), buffer.data(), buffer.size(),
                                                   nullptr, failure.out());
            if (got < 0) {
                throw source_.commit.unreadable(failure, file.described.checksum, path);
            }
            const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
            // The size in an object's header is no part of its checksum.
            if (bytes.size() > left || (bytes.empty() && left > 0)) {
                throw source_.commit.malformed(path, "it does not have the size in its header");
            }
            if (bytes.empty()) {
                return;
            }
            left -= bytes.size();
            digest.update(bytes);
            tar_.data(bytes);
        }
    }

    const LayerSource& source_;
    TarWriter& tar_;
    std::set<std::string> written_;
};

}  // namespace

void write_plain_layer(const LayerSource& source, bool first,
                       const std::vector<std::string>& objects, TarWriter& tar) {
    LayerWriter writer(source, tar);
    if (first) {
        writer.plain_directories();
    } else {
        writer.parents_of(objects);
    }
    writer.plain_content(objects);
}

void write_commit_layer(const LayerSource& source, const std::vector<std::string>& objects,
                        TarWriter& tar) {
    LayerWriter writer(source, tar);
    tar.directory("./", source.tree.directories.front().attributes);
    writer.repository();
    writer.commit_object();
    writer.directories();
    writer.content(objects);
}

void write_chunk_layer(const LayerSource& source, const std::vector<std::string>& objects,
                       TarWriter& tar) {
    LayerWriter writer(source, tar);
    writer.repository();
    writer.parents_of(objects);
    writer.content(objects);
}

}  // namespace edgegpu
