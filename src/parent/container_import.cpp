#include "parent/container_import.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gio/gio.h>
#include <ostree.h>
#include <sys/stat.h>

#include "blueprint/sources/overlay_archive.hpp"
#include "cache/store.hpp"
#include "repository/object_walk.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr StoreKind kept_parents{"parents", EntryKind::parent};
constexpr const char* commit_name = "commit";
constexpr const char* repository_name = "repo";
constexpr std::string_view objects_path = "sysroot/ostree/repo/objects/";
/// "ab/" and 62 digits
constexpr std::size_t object_name_size = 65;
/// What importers take, in bytes.
constexpr std::uint64_t largest_attributes = 1U << 20U;
constexpr std::uint64_t most_in_layers = 64ULL << 30U;

using StreamHandle = Handle<GOutputStream, g_object_unref>;

/// A member of a layer that is an object.
struct ObjectMember {
    std::string checksum;
    /// "commit", "file-xattrs-link"
    std::string type;
};

std::optional<ObjectMember> object_of(std::string_view name) {
    if (name.starts_with("./")) {
        name.remove_prefix(2);
    }
    if (!name.starts_with(objects_path)) {
        return std::nullopt;
    }
    name.remove_prefix(objects_path.size());
    if (name.size() < object_name_size + 2 || name[2] != '/' || name[object_name_size] != '.') {
        return std::nullopt;
    }
    ObjectMember object{
        fmt::format("{}{}", name.substr(0, 2), name.substr(3, object_name_size - 3)),
        std::string(name.substr(object_name_size + 1))};
    return is_sha256(object.checksum) ? std::optional(std::move(object)) : std::nullopt;
}

std::optional<OstreeObjectType> metadata_type(std::string_view type) {
    static const std::map<std::string_view, OstreeObjectType> types{
        {"commit", OSTREE_OBJECT_TYPE_COMMIT},
        {"commitmeta", OSTREE_OBJECT_TYPE_COMMIT_META},
        {"dirtree", OSTREE_OBJECT_TYPE_DIR_TREE},
        {"dirmeta", OSTREE_OBJECT_TYPE_DIR_META}};
    const auto found = types.find(type);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// A transaction of a repository, undone unless it was committed.
class Transaction {
public:
    explicit Transaction(OstreeRepo* repo) : repo_(repo) {
        GlibFailure failure;
        if (ostree_repo_prepare_transaction(repo_, nullptr, nullptr, failure.out()) == FALSE) {
            throw failure.to_error("the cache", "the parent's repository");
        }
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction() {
        if (repo_ != nullptr) {
            ostree_repo_abort_transaction(repo_, nullptr, nullptr);
        }
    }

    void commit() {
        GlibFailure failure;
        if (ostree_repo_commit_transaction(repo_, nullptr, nullptr, failure.out()) == FALSE) {
            throw failure.to_error("the cache", "the parent's repository");
        }
        repo_ = nullptr;
    }

private:
    OstreeRepo* repo_;
};

/// Writes the objects of an image's layers into a repository.
class ContainerImport {
public:
    ContainerImport(const Context& ctx, const StoredImage& image, OstreeRepo* repo)
        : ctx_(ctx), image_(image), repo_(repo) {}

    /// Returns the commit's checksum.
    std::string run() {
        std::uint64_t packed = 0;
        for (const StoredFile& layer : image_.layers) {
            packed += layer.size;
        }
        const UnpackLimit limit =
            UnpackLimit(most_in_layers).with(most_unpacked(packed, 1U << 30U));
        for (std::size_t i = 0; i < image_.layers.size(); ++i) {
            read_layer(image_.layers[i], image_.diff_ids[i], limit);
            ctx_.console->progress(i + 1, image_.layers.size(), "layers of the parent");
        }
        if (commit_.empty()) {
            throw damaged("no layer has a commit");
        }
        if (detached_) {
            GlibFailure failure;
            if (ostree_repo_write_commit_detached_metadata(repo_, commit_.c_str(), detached_.get(),
                                                           nullptr, failure.out()) == FALSE) {
                throw written(failure, commit_);
            }
        }
        return commit_;
    }

private:
    [[nodiscard]] Error damaged(std::string_view what) const {
        return error(ErrorKind::fetch, "image {}: {}", image_.called, what)
            .hinted(
                "it is damaged, or was not made by a tool that knows ostree's container "
                "format: push it again");
    }

    [[nodiscard]] Error written(const GlibFailure& failure, const std::string& checksum) const {
        return failure.to_error(ctx_.cache.string(),
                                fmt::format("image {}: object {}", image_.called, checksum));
    }

    void read_layer(const StoredFile& layer, const std::string& diff_id, const UnpackLimit& limit) {
        attributes_.clear();
        next_ = {};
        TarReader reader({layer.path,
                          fmt::format("image {}: layer {}", image_.called, layer.digest),
                          "push the image again", ErrorKind::fetch, limit, true});
        TarMember member;
        while (reader.next(member)) {
            ctx_.check_cancelled();
            if (const std::optional<ObjectMember> object = object_of(member.name)) {
                add(reader, member, *object);
            }
        }
        if (reader.finish() != diff_id) {
            throw damaged(fmt::format("layer {} is not the one of its configuration (diff_ids)",
                                      layer.digest));
        }
    }

    void add(TarReader& reader, const TarMember& member, const ObjectMember& object) {
        if (const std::optional<OstreeObjectType> type = metadata_type(object.type)) {
            add_metadata(*type, object.checksum,
                         content_of(reader, member, object, OSTREE_MAX_METADATA_SIZE));
        } else if (object.type == "file-xattrs") {
            add_attributes(object.checksum, content_of(reader, member, object, largest_attributes));
        } else if (object.type == "file-xattrs-link") {
            next_ = {object.checksum, attributes_before(reader, member, object)};
        } else if (object.type == "file") {
            add_file(reader, member, object.checksum);
        } else {
            throw damaged(fmt::format("{} is no object that is known", member.name));
        }
    }

    /// Those that the file after this member has. It is a file if there were too many links.
    GVariant* attributes_before(TarReader& reader, const TarMember& member,
                                const ObjectMember& object) {
        if (member.linked.empty()) {
            const std::string content = content_of(reader, member, object, largest_attributes);
            const std::string checksum = sha256_hex(content);
            add_attributes(checksum, content);
            return attributes_.at(checksum).get();
        }
        const std::optional<ObjectMember> target = object_of(member.linked);
        const auto found = target ? attributes_.find(target->checksum) : attributes_.end();
        if (found == attributes_.end()) {
            throw damaged(
                fmt::format("object {} has no extended attributes before it", object.checksum));
        }
        return found->second.get();
    }

    std::string content_of(TarReader& reader, const TarMember& member, const ObjectMember& object,
                           std::uint64_t limit) const {
        if (member.type != S_IFREG || !member.linked.empty() || member.size > limit) {
            throw damaged(fmt::format("object {}.{} is no file of at most {} bytes",
                                      object.checksum, object.type, limit));
        }
        std::string content;
        content.reserve(member.size);
        reader.read([&](const char* data, std::size_t size) { content.append(data, size); });
        return content;
    }

    void add_metadata(OstreeObjectType type, const std::string& checksum,
                      const std::string& content) {
        const bool detached = type == OSTREE_OBJECT_TYPE_COMMIT_META;
        const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(content.data(), content.size()));
        const GVariantType* format =
            detached                              ? G_VARIANT_TYPE("a{sv}")
            : type == OSTREE_OBJECT_TYPE_COMMIT   ? OSTREE_COMMIT_GVARIANT_FORMAT
            : type == OSTREE_OBJECT_TYPE_DIR_TREE ? OSTREE_TREE_GVARIANT_FORMAT
                                                  : OSTREE_DIRMETA_GVARIANT_FORMAT;
        VariantHandle object = own(g_variant_new_from_bytes(format, bytes.get(), FALSE));
        if (g_variant_is_normal_form(object.get()) == FALSE) {
            throw damaged(fmt::format("object {} is malformed", checksum));
        }
        if (detached) {
            detached_ = std::move(object);
            return;
        }
        if (type == OSTREE_OBJECT_TYPE_COMMIT && !std::exchange(commit_, checksum).empty()) {
            throw damaged("it has two commits");
        }
        GlibFailure failure;
        if (ostree_repo_write_metadata(repo_, type, checksum.c_str(), object.get(), nullptr,
                                       nullptr, failure.out()) == FALSE) {
            throw written(failure, checksum);
        }
    }

    void add_attributes(const std::string& checksum, const std::string& content) {
        if (sha256_hex(content) != checksum) {
            throw damaged(fmt::format("extended attributes {} have another checksum", checksum));
        }
        const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(content.data(), content.size()));
        VariantHandle list =
            own(g_variant_new_from_bytes(G_VARIANT_TYPE("a(ayay)"), bytes.get(), FALSE));
        if (g_variant_is_normal_form(list.get()) == FALSE) {
            throw damaged(fmt::format("extended attributes {} are malformed", checksum));
        }
        attributes_.emplace(checksum, std::move(list));  // `next_` refers to one that is there
    }

    void add_file(TarReader& reader, const TarMember& member, const std::string& checksum) {
        if (next_.first != checksum || !member.linked.empty() ||
            (member.type != S_IFREG && member.type != S_IFLNK)) {
            throw damaged(
                fmt::format("object {} is neither file nor link with attributes", checksum));
        }
        GVariant* const attributes = std::exchange(next_, {}).second;
        const auto uid = static_cast<std::uint32_t>(member.uid);
        const auto gid = static_cast<std::uint32_t>(member.gid);
        GlibFailure failure;
        if (member.type == S_IFLNK) {
            const TextHandle made(ostree_repo_write_symlink(repo_, checksum.c_str(), uid, gid,
                                                            attributes, member.target.c_str(),
                                                            nullptr, failure.out()));
            if (!made) {
                throw written(failure, checksum);
            }
            return;
        }
        const StreamHandle writer(G_OUTPUT_STREAM(
            ostree_repo_write_regfile(repo_, checksum.c_str(), uid, gid, S_IFREG | member.mode,
                                      member.size, attributes, failure.out())));
        if (!writer) {
            throw written(failure, checksum);
        }
        reader.read([&](const char* data, std::size_t size) {
            if (g_output_stream_write_all(writer.get(), data, size, nullptr, nullptr,
                                          failure.out()) == FALSE) {
                throw written(failure, checksum);
            }
        });
        const TextHandle made(ostree_content_writer_finish(OSTREE_CONTENT_WRITER(writer.get()),
                                                           nullptr, failure.out()));
        if (!made) {
            throw written(failure, checksum);
        }
    }

    const Context& ctx_;
    const StoredImage& image_;
    OstreeRepo* repo_;
    std::string commit_;
    VariantHandle detached_;
    /// of the layer
    std::map<std::string, VariantHandle, std::less<>> attributes_;
    /// The file that comes next, and its attributes.
    std::pair<std::string, GVariant*> next_;
};

/// Refuses what has no commit, and layers that no commit has.
void require_encapsulated(const StoredImage& image, const SourceLocation& location) {
    const auto label = [&](const char* name) { return image_label(image.config, name); };
    const std::string last = label("ostree.final-diffid");
    if (last.empty() || label("ostree.commit").empty()) {
        throw error_at(location, "image {} has no ostree commit: it lacks the label {}",
                       image.called, last.empty() ? "ostree.final-diffid" : "ostree.commit")
            .hinted(
                "a parent is an image that ostree, rpm-ostree or edgegpu image --type oci made "
                "of a commit");
    }
    const std::string prefix = "sha256:";
    const auto found = std::ranges::find_if(
        image.diff_ids, [&](const std::string& id) { return prefix + id == last; });
    if (found == image.diff_ids.end()) {
        throw error(ErrorKind::fetch, "image {}: no layer is {}, as ostree.final-diffid says",
                    image.called, last);
    }
    const auto above = std::distance(found, image.diff_ids.end()) - 1;
    if (above > 0) {
        throw error_at(location, "image {} has {} above those of its commit", image.called,
                       above == 1 ? "a layer" : fmt::format("{} layers", above))
            .hinted(
                "pull it into a repository with `ostree container image pull`, which makes a "
                "commit of both, and name that with repository and ref; or name the image "
                "that the layers were put on");
    }
}

/// What is kept in the cache is complete, whatever the image lacks.
void require_complete(const Context& ctx, const fs::path& place, const std::string& commit,
                      const std::string& called) {
    const RepositoryView repository(place);
    ObjectWalk walk(ctx, repository, true);
    static_cast<void>(walk.add(commit));
    if (!walk.faults().empty()) {
        const ObjectFault& fault = walk.faults().front();
        throw error(ErrorKind::fetch, "image {}: the object of {} is {}", called,
                    fault.object.path.empty() ? "its commit" : fault.object.path,
                    name_of(fault.state))
            .hinted("its layers have not all objects of the commit: push the image again");
    }
}

/// Makes the repository that an image is imported into.
RepoHandle create_repository(const Context& ctx, const fs::path& place) {
    GlibFailure failure;
    const FileHandle file(g_file_new_for_path(place.c_str()));
    RepoHandle repo(ostree_repo_new(file.get()));
    bool made = ostree_repo_create(repo.get(), OSTREE_REPO_MODE_BARE_USER, nullptr,
                                   failure.out()) == TRUE;
    if (made) {
        // By default ostree writes nothing while less than 3 % of the file system are free, which
        // on a large disk are many times what an image needs.
        const Handle<GKeyFile, g_key_file_unref> config(ostree_repo_copy_config(repo.get()));
        g_key_file_set_string(config.get(), "core", "min-free-space-percent", "0");
        made = ostree_repo_write_config(repo.get(), config.get(), failure.out()) == TRUE &&
               ostree_repo_reload_config(repo.get(), nullptr, failure.out()) == TRUE;
    }
    if (!made) {
        throw failure.to_error(ctx.cache.string(), "the parent's repository");
    }
    return repo;
}

ImportedCommit make_repository(const Context& ctx, const StoredImage& image, NewEntry& entry) {
    const fs::path place = entry.directory() / repository_name;
    const RepoHandle repo = create_repository(ctx, place);
    Transaction transaction(repo.get());
    std::string commit = ContainerImport(ctx, image, repo.get()).run();
    transaction.commit();
    if (const std::string wanted = image_label(image.config, "ostree.commit"); wanted != commit) {
        throw error(ErrorKind::fetch, "image {} has commit {}, and not {} as its label says",
                    image.called, commit, wanted);
    }
    require_complete(ctx, place, commit, image.called);
    entry.add(commit_name, commit);
    return {place, std::move(commit)};
}

}  // namespace

ImportedCommit import_container(const Context& ctx, const StoredImage& image,
                                const SourceLocation& location) {
    require_encapsulated(image, location);
    const auto read = [](const StoredEntry& entry) -> std::optional<ImportedCommit> {
        const std::string* commit = entry.find(commit_name);
        return commit == nullptr
                   ? std::nullopt
                   : std::optional(ImportedCommit{entry.directory() / repository_name, *commit});
    };
    const auto make = [&](NewEntry& entry) { return make_repository(ctx, image, entry); };
    static_cast<void>(find_or_make(ctx, kept_parents, image.digest,
                                   "is importing image " + image.called, read, make));
    // The entry has its name only now.
    const std::optional<StoredEntry> entry = find_stored(ctx, kept_parents, image.digest);
    const std::optional<ImportedCommit> imported = entry ? read(*entry) : std::nullopt;
    if (!imported) {
        throw error("image {}: what was imported is not in the cache", image.called);
    }
    return *imported;
}

}  // namespace edgegpu
