#include "parent/derived_layers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "oci/layered_files.hpp"
#include "oci/manifest.hpp"
#include "parent/object_writer.hpp"
#include "repository/commit_view.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using DirectoryHandle = Handle<OstreeMutableTree, g_object_unref>;

constexpr const char* capability_attribute = "security.capability";

/// Moves what is below `from` to `to`, upon what is there.
void move_onto(Entries& files, const std::string& from, const std::string& to) {
    for (auto& [path, entry] : take_subtree(files, from)) {
        const std::string place = to + path.substr(from.size());
        const auto old = files.find(place);
        if (old != files.end() &&
            (old->second.type != EntryType::directory || entry.type != EntryType::directory)) {
            erase_subtree(files, place);
        }
        files.insert_or_assign(place, std::move(entry));
    }
}

/// The paths of a commit as a container has them. `digest` of files and links is the checksum of
/// their object, and files have no content: neither is true of what a layer adds.
Entries files_of_commit(const Context& ctx, const CommitView& commit) {
    Entries files;
    std::vector<std::pair<std::string, CommitNode>> directories{{"/", commit.root()}};
    while (!directories.empty()) {
        ctx.check_cancelled();
        const auto [directory, at] = std::move(directories.back());
        directories.pop_back();
        for (auto& [name, node] : commit.list(at, directory)) {
            const std::string path = fmt::format("{}/{}", directory == "/" ? "" : directory, name);
            const CommitPath described = commit.describe(node, path);
            Entry entry;
            entry.type = described.type;
            entry.mode = described.mode;
            entry.uid = described.uid;
            entry.gid = described.gid;
            entry.target = described.target;
            entry.digest = described.checksum;
            files.emplace(path, std::move(entry));
            if (node.directory) {
                directories.emplace_back(path, node);
            }
        }
    }
    const CommitPath root = commit.describe(commit.root(), "/");
    Entry& top = files["/"] = directory_entry(root.mode);
    top.uid = root.uid;
    top.gid = root.gid;
    move_onto(files, "/usr/etc", "/etc");
    return files;
}

/// What an import leaves out, and /etc where ostree has it.
void finish_files(Entries& files) {
    for (const char* directory : {"/run", "/tmp", "/proc", "/sys", "/dev", "/sysroot"}) {
        erase_below(files, directory);
    }
    for (const char* left : {"/etc/hostname", "/etc/resolv.conf"}) {
        const auto found = files.find(left);
        if (found != files.end() && found->second.type == EntryType::file &&
            !found->second.content.empty() && found->second.size == 0) {
            files.erase(found);
        }
    }
    // What a layer puts into /usr/etc is what an import has there.
    move_onto(files, "/usr/etc", "/etc");
    move_onto(files, "/etc", "/usr/etc");
}

VariantHandle attributes_with(const std::string& capabilities) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(ayay)"));
    if (!capabilities.empty()) {
        g_variant_builder_add(&builder, "(@ay@ay)", g_variant_new_bytestring(capability_attribute),
                              g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, capabilities.data(),
                                                        capabilities.size(), 1));
    }
    return own(g_variant_builder_end(&builder));
}

/// Writes files as a tree of ostree's.
class FilesWriter {
public:
    FilesWriter(const Context& ctx, ObjectWriter& writer) : ctx_(ctx), writer_(writer) {}

    /// Returns its root, as `ostree_repo_write_commit` takes it.
    FileHandle write(const Entries& files) {
        for (const auto& [path, entry] : files) {
            ctx_.check_cancelled();
            if (entry.type == EntryType::directory) {
                add_directory(path, entry);
            } else {
                add_file(path, entry);
            }
        }
        GlibFailure failure;
        GFile* root = nullptr;
        if (ostree_repo_write_mtree(writer_.repo(), directories_.at("/").get(), &root, nullptr,
                                    failure.out()) == FALSE) {
            throw writer_.written(failure, "its directories");
        }
        return FileHandle(root);
    }

private:
    [[nodiscard]] OstreeMutableTree* parent_of(const std::string& path) const {
        const std::size_t slash = path.rfind('/');
        const auto found = directories_.find(slash == 0 ? "/" : path.substr(0, slash));
        if (found == directories_.end()) {
            throw error("{} of the parent is in no directory", path);
        }
        return found->second.get();
    }

    void add_directory(const std::string& path, const Entry& entry) {
        const VariantHandle meta =
            own(g_variant_new("(uuu@a(ayay))", GUINT32_TO_BE(entry.uid), GUINT32_TO_BE(entry.gid),
                              GUINT32_TO_BE(S_IFDIR | entry.mode),
                              g_variant_new_array(G_VARIANT_TYPE("(ayay)"), nullptr, 0)));
        const std::string checksum =
            writer_.add_metadata(OSTREE_OBJECT_TYPE_DIR_META, "", meta.get());
        GlibFailure failure;
        OstreeMutableTree* directory = nullptr;
        if (path == "/") {
            directory = ostree_mutable_tree_new();
        } else if (ostree_mutable_tree_ensure_dir(parent_of(path),
                                                  path.substr(path.rfind('/') + 1).c_str(),
                                                  &directory, failure.out()) == FALSE) {
            throw writer_.written(failure, path);
        }
        ostree_mutable_tree_set_metadata_checksum(directory, checksum.c_str());
        directories_.emplace(path, directory);
    }

    void add_file(const std::string& path, const Entry& entry) {
        const bool of_base = entry.content.empty() && !entry.digest.empty();
        const std::string checksum = of_base ? entry.digest : write_object(path, entry);
        GlibFailure failure;
        if (ostree_mutable_tree_replace_file(parent_of(path),
                                             path.substr(path.rfind('/') + 1).c_str(),
                                             checksum.c_str(), failure.out()) == FALSE) {
            throw writer_.written(failure, path);
        }
    }

    std::string write_object(const std::string& path, const Entry& entry) {
        const VariantHandle attributes = attributes_with(entry.capabilities);
        const FileHeader header{entry.uid,    entry.gid,  entry.mode,
                                entry.target, entry.size, attributes.get()};
        return writer_.add_file("", header, [&](const auto& use) {
            each_piece(open_to_read(entry.content).get(), path,
                       [&](std::string_view piece) { use(piece.data(), piece.size()); });
        });
    }

    const Context& ctx_;
    ObjectWriter& writer_;
    std::map<std::string, DirectoryHandle, std::less<>> directories_;
};

/// When the image was made, or 0.
std::uint64_t time_of(const StoredImage& image) {
    const nlohmann::json config = nlohmann::json::parse(image.config, nullptr, false);
    const std::string created =
        config.is_object() && config.contains("created") && config.at("created").is_string()
            ? config.at("created").get<std::string>()
            : "";
    const Handle<GDateTime, g_date_time_unref> time(
        g_date_time_new_from_iso8601(created.c_str(), nullptr));
    return time ? static_cast<std::uint64_t>(std::max<gint64>(g_date_time_to_unix(time.get()), 0))
                : 0;
}

/// The metadata of the merged commit, sorted by keys, so that its checksum depends on nothing else;
/// `base` is that of the commit below, or null.
VariantHandle merged_metadata(const StoredImage& image, GVariant* base) {
    // What is true of the commit below alone.
    constexpr std::array<const char*, 4> left_out{"ostree.ref-binding", "ostree.collection-binding",
                                                  "rpmostree.rpmdb.pkglist",
                                                  "rpmostree.advisories"};
    std::map<std::string, VariantHandle> values;
    for (auto& [key, value] : entries_of(base)) {
        values.insert_or_assign(key, std::move(value));
    }
    for (const char* key : left_out) {
        values.erase(key);
    }
    const std::string version = image_label(image.config, "org.opencontainers.image.version");
    if (!version.empty()) {
        values.insert_or_assign("version", own(g_variant_new_string(version.c_str())));
    }
    if (is_for_devices(image)) {
        values.insert_or_assign("ostree.bootable", own(g_variant_new_boolean(TRUE)));
    }
    values.insert_or_assign("ostree.manifest-digest",
                            own(g_variant_new_string(("sha256:" + image.digest).c_str())));
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    for (const auto& [key, value] : values) {
        g_variant_builder_add(&builder, "{sv}", key.c_str(), value.get());
    }
    return own(g_variant_builder_end(&builder));
}

}  // namespace

bool is_for_devices(const StoredImage& image) {
    return !image_label(image.config, "containers.bootc").empty() ||
           !image_label(image.config, "ostree.bootable").empty();
}

std::string merge_layers(const Context& ctx, const StoredImage& image, std::size_t first,
                         const std::filesystem::path& place, const std::string& base) {
    Entries files;
    std::uint64_t time = time_of(image);
    VariantHandle metadata;
    if (!base.empty()) {
        const CommitView commit = RepositoryView(place).commit_at(base, image.called);
        files = files_of_commit(ctx, commit);
        time = std::max(time,
                        static_cast<std::uint64_t>(std::max<std::int64_t>(commit.info().time, 0)));
        const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, base, "the commit");
        metadata = VariantHandle(g_variant_get_child_value(object.get(), 0));
    }
    files = apply_layers(ctx, image, {}, first, std::move(files));
    finish_files(files);
    ObjectWriter writer(ctx, place, image.called);
    const FileHandle root = FilesWriter(ctx, writer).write(files);
    GlibFailure failure;
    char* checksum = nullptr;
    const VariantHandle merged = merged_metadata(image, metadata.get());
    if (ostree_repo_write_commit_with_time(writer.repo(), nullptr, nullptr, nullptr, merged.get(),
                                           OSTREE_REPO_FILE(root.get()), time, &checksum, nullptr,
                                           failure.out()) == FALSE) {
        throw writer.written(failure, "its commit");
    }
    const TextHandle text(checksum);
    writer.commit();
    return text.get();
}

}  // namespace edgegpu
