#include "repository/commit_view.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "repository/commit_advisories.hpp"
#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using StreamHandle = Handle<GInputStream, g_object_unref>;

constexpr unsigned permission_bits = 07777;

std::vector<CommitImage> images_in(GVariant* metadata, std::string_view commit) {
    std::vector<CommitImage> images;
    const VariantHandle list =
        metadata_value(metadata, "edgegpu.container-images", "a(sst)", commit);
    for (const VariantHandle& item : children_of(list.get())) {
        const char* name = nullptr;
        const char* digest = nullptr;
        guint64 size = 0;
        g_variant_get(item.get(), "(&s&st)", &name, &digest, &size);
        images.push_back({name, digest, GUINT64_FROM_BE(size)});
    }
    return images;
}

// Name, epoch, version, release, architecture.
std::optional<std::vector<Nevra>> packages_in(GVariant* metadata, std::string_view commit) {
    const VariantHandle list =
        metadata_value(metadata, "rpmostree.rpmdb.pkglist", "a(sssss)", commit);
    if (!list) {
        return std::nullopt;
    }
    std::vector<Nevra> packages;
    for (const VariantHandle& item : children_of(list.get())) {
        std::array<const char*, 5> text{};
        g_variant_get(item.get(), "(&s&s&s&s&s)", &text[0], &text[1], &text[2], &text[3], &text[4]);
        Nevra nevra{text[0], 0, text[2], text[3], text[4]};
        std::from_chars(text[1], text[1] + std::strlen(text[1]), nevra.epoch);
        packages.push_back(std::move(nevra));
    }
    return packages;
}

CommitInfo read_info(GVariant* commit, std::string name, std::string checksum) {
    CommitInfo info;
    info.name = std::move(name);
    info.checksum = std::move(checksum);
    info.parent = checksum_in(commit, 1);
    info.time = static_cast<std::int64_t>(ostree_commit_get_timestamp(commit));
    const VariantHandle metadata(g_variant_get_child_value(commit, 0));
    const auto text = [&](const char* key) {
        return metadata_text(metadata.get(), key, info.name);
    };
    info.version = text("version");
    info.kernel = text("ostree.linux");
    info.update_system =
        text(update_system_key) == snapshots_name ? UpdateSystem::snapshots : UpdateSystem::ostree;
    info.driver = text("edgegpu.nvidia-driver");
    // It may be longer than other texts.
    const VariantHandle stack = metadata_value(metadata.get(), "edgegpu.gpu-stack", "s", info.name);
    info.gpu_stack = stack ? g_variant_get_string(stack.get(), nullptr) : "";
    info.inputs_digest = text("edgegpu.inputs-digest");
    info.manifest_digest = text("ostree.manifest-digest");
    info.collection = text("ostree.collection-binding");
    info.bound_refs = metadata_texts(metadata.get(), "ostree.ref-binding", info.name)
                          .value_or(std::vector<std::string>());
    info.initramfs_arguments = metadata_texts(metadata.get(), "rpmostree.initramfs-args", info.name)
                                   .value_or(std::vector<std::string>());
    info.kernel_arguments = metadata_texts(metadata.get(), "edgegpu.kargs", info.name);
    if (!info.kernel_arguments && !info.inputs_digest.empty()) {
        // A commit of edgegpu without this key has no kernel arguments.
        info.kernel_arguments.emplace();
    }
    info.packages = packages_in(metadata.get(), info.name);
    info.images = images_in(metadata.get(), info.name);
    info.advisories = advisories_in(metadata.get(), info.name);
    if (!info.advisories && !info.inputs_digest.empty()) {
        // A commit of edgegpu without this key has packages that no advisory names.
        info.advisories.emplace();
    }
    return info;
}

bool is_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

}  // namespace

void require_deployable(const CommitInfo& commit) {
    if (commit.update_system == UpdateSystem::snapshots) {
        throw error(ErrorKind::usage,
                    "{}: an image for transactional-update, which no ostree device can deploy",
                    commit.name)
            .hinted("edgegpu image --type oci writes it for `transactional-update apply-oci`");
    }
}

std::uint64_t total_bytes(const std::vector<CommitImage>& images) {
    std::map<std::string_view, std::uint64_t> sizes;
    for (const CommitImage& image : images) {
        sizes.emplace(image.digest, image.size);
    }
    std::uint64_t bytes = 0;
    for (const auto& [digest, size] : sizes) {
        // Metadata of somebody's commit: a sum beyond all bounds is only a wrong one.
        bytes += size;
    }
    return bytes;
}

CommitView::CommitView(RepoHandle repo, std::string repository, std::string name,
                       std::string checksum)
    : repo_(std::move(repo)), repository_(std::move(repository)) {
    info_.checksum = checksum;
    const VariantHandle commit = load(OSTREE_OBJECT_TYPE_COMMIT, checksum, "");
    const std::string partial = fmt::format("state/{}.commitpartial", checksum);
    if (::faccessat(ostree_repo_get_dfd(repo_.get()), partial.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) ==
        0) {
        throw error("{}: commit {} is incomplete: it was pulled partially", repository_, checksum)
            .hinted("pull it again without --commit-metadata-only and --subpath");
    }
    info_ = read_info(commit.get(), std::move(name), std::move(checksum));
    root_ = {true, checksum_in(commit.get(), 6), checksum_in(commit.get(), 7)};
    if (root_.checksum.empty() || root_.meta.empty()) {
        throw malformed("/", "no root directory");
    }
}

Error CommitView::unreadable(const GlibFailure& failure, const std::string& checksum,
                             std::string_view path) const {
    const std::string what = path.empty() ? "the commit itself" : std::string(path);
    if (failure.is(G_IO_ERROR_NOT_FOUND)) {
        return error("{}: commit {} is incomplete: the object of {} is missing ({})", repository_,
                     info_.checksum, what, checksum)
            .hinted("pull the commit again, or check the repository with `ostree fsck`");
    }
    return failure
        .to_error(repository_, fmt::format("commit {}: cannot read {}", info_.checksum, what))
        .hinted("the repository may be damaged: check it with `ostree fsck`");
}

Error CommitView::malformed(std::string_view path, std::string_view what) const {
    return error("{}: commit {}: malformed object of {}: {}", repository_, info_.checksum,
                 path.empty() ? "the commit itself" : path, what)
        .hinted("the repository is damaged: check it with `ostree fsck`");
}

VariantHandle CommitView::load(OstreeObjectType type, const std::string& checksum,
                               std::string_view path) const {
    GlibFailure failure;
    VariantHandle object = load_object(repo_.get(), type, checksum, failure);
    if (!object) {
        throw failure.is(G_IO_ERROR_INVALID_DATA) ? malformed(path, failure.get()->message)
                                                  : unreadable(failure, checksum, path);
    }
    return object;
}

CommitDirectory CommitView::list(const CommitNode& directory, std::string_view path) const {
    const VariantHandle tree = load(OSTREE_OBJECT_TYPE_DIR_TREE, directory.checksum, path);
    CommitDirectory found;
    for (const bool directories : {false, true}) {
        const VariantHandle items(g_variant_get_child_value(tree.get(), directories ? 1 : 0));
        for (const VariantHandle& item : children_of(items.get())) {
            const char* name = nullptr;
            g_variant_get_child(item.get(), 0, "&s", &name);
            CommitNode node{directories, checksum_in(item.get(), 1),
                            directories ? checksum_in(item.get(), 2) : ""};
            if (!is_name(name) || node.checksum.empty() || (directories && node.meta.empty())) {
                throw malformed(path, fmt::format("invalid entry \"{}\"", name));
            }
            if (!found.emplace(name, std::move(node)).second) {
                throw malformed(path, fmt::format("duplicate entry \"{}\"", name));
            }
        }
    }
    return found;
}

std::optional<CommitNode> CommitView::find(std::string_view path) const {
    CommitNode node = root_;
    std::size_t begin = 1;
    while (begin < path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (!node.directory) {
            return std::nullopt;
        }
        const CommitDirectory names =
            list(node, path.substr(0, std::max<std::size_t>(begin, 2) - 1));
        const auto found = names.find(path.substr(begin, end - begin));
        if (found == names.end()) {
            return std::nullopt;
        }
        node = found->second;
        begin = end + 1;
    }
    return node;
}

CommitPath CommitView::describe_directory(const CommitNode& node, std::string_view path) const {
    const VariantHandle meta = load(OSTREE_OBJECT_TYPE_DIR_META, node.meta, path);
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t mode = 0;
    g_variant_get(meta.get(), "(uuu@a(ayay))", &uid, &gid, &mode, nullptr);
    CommitPath described;
    described.type = EntryType::directory;
    described.uid = GUINT32_FROM_BE(uid);
    described.gid = GUINT32_FROM_BE(gid);
    described.mode = GUINT32_FROM_BE(mode) & permission_bits;
    const VariantHandle attributes(g_variant_get_child_value(meta.get(), 3));
    read_attributes(attributes.get(), described);
    return described;
}

CommitPath CommitView::describe(const CommitNode& node, std::string_view path) const {
    if (node.directory) {
        return describe_directory(node, path);
    }
    return load_file(node.checksum, path).described;
}

std::optional<CommitPath> CommitView::describe(std::string_view path) const {
    const std::optional<CommitNode> node = find(path);
    return node ? std::optional(describe(*node, path)) : std::nullopt;
}

FileObject CommitView::load_file(const std::string& checksum, std::string_view path) const {
    GlibFailure failure;
    std::optional<FileObject> object = load_file_object(repo_.get(), checksum, failure);
    if (!object) {
        throw unreadable(failure, checksum, path);
    }
    return std::move(*object);
}

VariantHandle CommitView::detached_metadata() const {
    GlibFailure failure;
    VariantHandle object =
        load_object(repo_.get(), OSTREE_OBJECT_TYPE_COMMIT_META, info_.checksum, failure);
    if (!object && !failure.is(G_IO_ERROR_NOT_FOUND)) {
        throw failure.is(G_IO_ERROR_INVALID_DATA)
            ? malformed("the detached metadata", failure.get()->message)
            : unreadable(failure, info_.checksum, "the detached metadata");
    }
    return object;
}

std::optional<std::string> CommitView::read(std::string_view path, std::uint64_t limit) const {
    const std::optional<CommitNode> node = find(path);
    return node ? read(*node, path, limit) : std::nullopt;
}

std::optional<std::string> CommitView::read(const CommitNode& node, std::string_view path,
                                            std::uint64_t limit) const {
    if (node.directory) {
        return std::nullopt;
    }
    const FileObject object = load_file(node.checksum, path);
    if (!object.content) {
        return std::nullopt;
    }
    return read(object, path, limit);
}

std::string CommitView::read(const FileObject& object, std::string_view path,
                             std::uint64_t limit) const {
    // The size in the header is not trusted.
    std::string content;
    std::array<char, 65536> buffer{};
    while (object.content) {
        GlibFailure failure;
        const gssize got = g_input_stream_read(object.content.get(), buffer.data(), buffer.size(),
                                               nullptr, failure.out());
        if (got < 0) {
            throw unreadable(failure, object.described.checksum, path);
        }
        if (got == 0) {
            break;
        }
        content.append(buffer.data(), static_cast<std::size_t>(got));
        if (content.size() > limit) {
            throw error("{}: commit {}: {} is larger than {} bytes", repository_, info_.checksum,
                        path, limit)
                .hinted("no image has such a file: where does this commit come from?");
        }
    }
    return content;
}

std::uint64_t CommitView::stored_size(const std::string& object, std::string_view path) const {
    GlibFailure failure;
    guint64 size = 0;
    if (ostree_repo_query_object_storage_size(repo_.get(), OSTREE_OBJECT_TYPE_FILE, object.c_str(),
                                              &size, nullptr, failure.out()) == FALSE) {
        throw unreadable(failure, object, path);
    }
    return size;
}

std::uint64_t CommitView::metadata_size(OstreeObjectType type, const std::string& checksum,
                                        std::string_view path) const {
    return g_variant_get_size(load(type, checksum, path).get());
}

bool CommitView::same_content(const CommitPath& file, const CommitView& other,
                              const CommitPath& theirs, std::string_view path) const {
    const StreamHandle first = load_file(file.checksum, path).content;
    const StreamHandle second = other.load_file(theirs.checksum, path).content;
    std::array<char, 65536> one{};
    std::array<char, 65536> two{};
    while (first && second) {
        GlibFailure failure;
        gsize got = 0;
        gsize got_too = 0;
        if (g_input_stream_read_all(first.get(), one.data(), one.size(), &got, nullptr,
                                    failure.out()) == FALSE) {
            throw unreadable(failure, file.checksum, path);
        }
        if (g_input_stream_read_all(second.get(), two.data(), two.size(), &got_too, nullptr,
                                    failure.out()) == FALSE) {
            throw other.unreadable(failure, theirs.checksum, path);
        }
        if (std::string_view(one.data(), got) != std::string_view(two.data(), got_too)) {
            return false;
        }
        if (got < one.size()) {
            return true;
        }
    }
    return !first && !second;
}

std::vector<std::string> signatures_of(GVariant* metadata) {
    return signatures_of(metadata, signatures_key);
}

bool has_signatures(GVariant* metadata) {
    return !signatures_of(metadata).empty() ||
           !signatures_of(metadata, ed25519_signatures_key).empty();
}

std::vector<std::string> signatures_of(GVariant* metadata, const char* key) {
    const VariantHandle list(metadata == nullptr
                                 ? nullptr
                                 : g_variant_lookup_value(metadata, key, G_VARIANT_TYPE("aay")));
    return mapped(children_of(list.get()),
                  [](const VariantHandle& one) { return std::string(bytes_of(one.get())); });
}

}  // namespace edgegpu
