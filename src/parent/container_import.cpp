#include "parent/container_import.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <ostree.h>
#include <sys/stat.h>

#include "cache/store.hpp"
#include "parent/derived_layers.hpp"
#include "parent/object_writer.hpp"
#include "repository/object_walk.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/tar_reader.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"
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

/// Writes the objects of an image's layers into a repository.
class ContainerImport {
public:
    ContainerImport(const Context& ctx, const StoredImage& image, ObjectWriter& writer)
        : ctx_(ctx), image_(image), writer_(writer) {}

    /// Reads the first `count` layers. Returns the commit's checksum.
    std::string run(std::size_t count) {
        const std::uint64_t packed = sum_of(image_.layers, &StoredFile::size);
        const UnpackLimit limit =
            UnpackLimit(most_in_layers).with(most_unpacked(packed, 1U << 30U));
        for (std::size_t i = 0; i < count; ++i) {
            read_layer(image_.layers[i], image_.diff_ids.at(i), limit);
            ctx_.console->progress(i + 1, image_.layers.size(), "layers of the parent");
        }
        if (commit_.empty()) {
            throw damaged("no layer has a commit");
        }
        if (detached_) {
            writer_.add_detached(commit_, detached_.get());
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
        const GVariantType* format =
            detached                              ? G_VARIANT_TYPE("a{sv}")
            : type == OSTREE_OBJECT_TYPE_COMMIT   ? OSTREE_COMMIT_GVARIANT_FORMAT
            : type == OSTREE_OBJECT_TYPE_DIR_TREE ? OSTREE_TREE_GVARIANT_FORMAT
                                                  : OSTREE_DIRMETA_GVARIANT_FORMAT;
        VariantHandle object = variant_from(format, content);
        if (!object) {
            throw damaged(fmt::format("object {} is malformed", checksum));
        }
        if (detached) {
            detached_ = std::move(object);
            return;
        }
        if (type == OSTREE_OBJECT_TYPE_COMMIT && !std::exchange(commit_, checksum).empty()) {
            throw damaged("it has two commits");
        }
        writer_.add_metadata(type, checksum, object.get());
    }

    void add_attributes(const std::string& checksum, const std::string& content) {
        if (sha256_hex(content) != checksum) {
            throw damaged(fmt::format("extended attributes {} have another checksum", checksum));
        }
        VariantHandle list = variant_from(G_VARIANT_TYPE("a(ayay)"), content);
        if (!list) {
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
        FileHeader header;
        header.uid = static_cast<std::uint32_t>(member.uid);
        header.gid = static_cast<std::uint32_t>(member.gid);
        header.mode = member.mode;
        header.target = member.target;
        header.size = member.size;
        header.attributes = std::exchange(next_, {}).second;
        writer_.add_file(checksum, header, [&](const auto& use) { reader.read(use); });
    }

    const Context& ctx_;
    const StoredImage& image_;
    ObjectWriter& writer_;
    std::string commit_;
    VariantHandle detached_;
    /// of the layer
    std::map<std::string, VariantHandle, std::less<>> attributes_;
    /// The file that comes next, and its attributes.
    std::pair<std::string, GVariant*> next_;
};

/// How many layers of an image have its commit; none if it is an image of files alone, as bootc
/// takes them. Throws for one that no device would take.
std::size_t layers_of_commit(const StoredImage& image, const SourceLocation& location) {
    const std::string last = image_label(image.config, "ostree.final-diffid");
    if (last.empty()) {
        if (is_for_devices(image)) {
            return 0;
        }
        throw error_at(location, "image {} is no image of a device: it has none of the labels {}",
                       image.called, "ostree.final-diffid, ostree.bootable and containers.bootc")
            .hinted(
                "a parent is an image that bootc or rpm-ostree can start, for instance one that "
                "edgegpu image --type oci made of a commit");
    }
    const std::string prefix = "sha256:";
    const auto found = std::ranges::find_if(
        image.diff_ids, [&](const std::string& id) { return prefix + id == last; });
    if (found == image.diff_ids.end()) {
        throw error(ErrorKind::fetch, "image {}: no layer is {}, as ostree.final-diffid says",
                    image.called, last);
    }
    return static_cast<std::size_t>(found - image.diff_ids.begin()) + 1;
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

/// The commit that the first `count` layers have.
std::string import_commit(const Context& ctx, const StoredImage& image, const fs::path& place,
                          std::size_t count) {
    ObjectWriter writer(ctx, place, image.called);
    std::string commit = ContainerImport(ctx, image, writer).run(count);
    writer.commit();
    const std::string wanted = image_label(image.config, "ostree.commit");
    if (!wanted.empty() && wanted != commit) {
        throw error(ErrorKind::fetch, "image {} has commit {}, and not {} as its label says",
                    image.called, commit, wanted);
    }
    return commit;
}

ImportedCommit make_repository(const Context& ctx, const StoredImage& image, std::size_t count,
                               NewEntry& entry) {
    const fs::path place = entry.directory() / repository_name;
    std::string commit = count == 0 ? "" : import_commit(ctx, image, place, count);
    if (count < image.layers.size()) {
        commit = merge_layers(ctx, image, count, place, commit);
    }
    require_complete(ctx, place, commit, image.called);
    entry.add(commit_name, commit);
    return {place, std::move(commit)};
}

}  // namespace

ImportedCommit import_container(const Context& ctx, const StoredImage& image,
                                const SourceLocation& location) {
    const std::size_t count = layers_of_commit(image, location);
    const auto read = [](const StoredEntry& entry) -> std::optional<ImportedCommit> {
        const std::string* commit = entry.find(commit_name);
        return commit == nullptr
                   ? std::nullopt
                   : std::optional(ImportedCommit{entry.directory() / repository_name, *commit});
    };
    const auto make = [&](NewEntry& entry) { return make_repository(ctx, image, count, entry); };
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
