#include "encapsulate/layer_content.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "commit/object.hpp"
#include "repository/file_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"

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
            if (const std::string path = path_in_image(directory.path); !path.empty()) {
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
            const std::string path = path_in_image(directory.path);
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
                const std::string name = path_in_image(path);
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

private:
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
