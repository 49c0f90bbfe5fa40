#include "disk/commit_objects.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "execution/parallel.hpp"
#include "repository/file_object.hpp"
#include "repository/ostree_object.hpp"
#include "repository/tree_size.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

/// No file of an image is as large: a header that says so is a damaged one.
constexpr std::uint64_t largest_file = 1ULL << 42U;
constexpr std::string_view damaged_hint = "the repository is damaged: check it with `ostree fsck`";

}  // namespace

struct CommitObjects::Walk {
    std::set<std::pair<std::string, std::string>> metadata;
    std::unordered_map<std::string, std::size_t> files;
};

const CommitTree* CommitTree::find(std::string_view path) const {
    const CommitTree* tree = this;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const auto found = tree->directories.find(path.substr(0, end));
        if (found == tree->directories.end()) {
            return nullptr;
        }
        tree = &found->second;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return tree;
}

NodeAttributes node_attributes(const CommitPath& described, GVariant* attributes) {
    NodeAttributes node{described.mode, described.uid, described.gid, 0, {}};
    for (auto& [key, value] : extended_attributes(attributes)) {
        node.attributes[key] = std::move(value);
    }
    return node;
}

CommitObjects::CommitObjects(const Context& ctx, const RepositoryView& repository,
                             const CommitView& commit)
    : repository_(repository), commit_(commit) {
    require_walkable(ctx, commit);
    Walk state;
    const std::string& checksum = commit.info().checksum;
    add_metadata(state, OSTREE_OBJECT_TYPE_COMMIT, checksum, "the commit itself");
    if (const VariantHandle detached = commit.detached_metadata()) {
        metadata_.push_back({checksum, "commitmeta", std::string(bytes_of(detached.get()))});
    }
    root_ = walk(state, commit.root(), "");
    parallel_for(ctx, files_.size(), [&](std::size_t i) { read_header(files_[i]); });
    std::ranges::sort(metadata_, [](const auto& one, const auto& other) {
        return std::tie(one.checksum, one.extension) < std::tie(other.checksum, other.extension);
    });
}

void CommitObjects::add_metadata(Walk& walk, OstreeObjectType type, const std::string& checksum,
                                 const std::string& path) {
    const char* extension = ostree_object_type_to_string(type);
    if (!walk.metadata.emplace(checksum, extension).second) {
        return;
    }
    const auto broken = [&](std::string_view what) {
        return error("{}: commit {}: object {}.{} of {} is {}", repository_.path(),
                     commit_.info().checksum, checksum, extension, path, what)
            .hinted(std::string(damaged_hint));
    };
    GlibFailure failure;
    const VariantHandle object = load_object(repository_.handle(), type, checksum, failure);
    if (!object) {
        throw broken(failure.is(G_IO_ERROR_NOT_FOUND) ? "missing" : "unreadable");
    }
    std::string content(bytes_of(object.get()));
    if (sha256_hex(content) != checksum) {
        throw broken("damaged: its content has another checksum");
    }
    metadata_.push_back({checksum, extension, std::move(content)});
}

CommitTree CommitObjects::walk(Walk& state, const CommitNode& node, const std::string& path) {
    const std::string shown = path.empty() ? "/" : path;
    add_metadata(state, OSTREE_OBJECT_TYPE_DIR_TREE, node.checksum, shown);
    add_metadata(state, OSTREE_OBJECT_TYPE_DIR_META, node.meta, shown);
    CommitTree tree;
    const CommitPath described = commit_.describe(node, shown);
    const VariantHandle meta = commit_.load(OSTREE_OBJECT_TYPE_DIR_META, node.meta, shown);
    const VariantHandle attributes(g_variant_get_child_value(meta.get(), 3));
    tree.attributes = node_attributes(described, attributes.get());
    for (const auto& [name, child] : commit_.list(node, shown)) {
        const std::string child_path = path + "/" + name;
        if (child.directory) {
            tree.directories.emplace(name, walk(state, child, child_path));
            continue;
        }
        const auto [known, added] = state.files.emplace(child.checksum, files_.size());
        if (added) {
            files_.push_back({child.checksum, child_path, false, 0, {}, {}});
        }
        tree.files.emplace(name, known->second);
    }
    return tree;
}

Error CommitObjects::damaged(const CommitFile& file, std::string_view what) const {
    return error("{}: commit {}: object {}.file of {} is {}", repository_.path(),
                 commit_.info().checksum, file.checksum, file.path, what)
        .hinted(std::string(damaged_hint));
}

void CommitObjects::read_header(CommitFile& file) const {
    GlibFailure failure;
    const std::optional<FileObject> object =
        load_file_object(repository_.handle(), file.checksum, failure);
    if (!object) {
        throw damaged(file, failure.is(G_IO_ERROR_NOT_FOUND)
                                ? "missing"
                                : fmt::format("damaged: {}", failure.get()->message));
    }
    file.symlink = object->described.type == EntryType::symlink;
    file.size = object->described.size;
    file.target = object->described.target;
    file.attributes = node_attributes(object->described, object->attributes.get());
    if (file.size > largest_file) {
        throw damaged(file, fmt::format("damaged: it cannot have {} bytes", file.size));
    }
    if (file.symlink && sha256_hex(hashed_header(*object)) != file.checksum) {
        throw damaged(file, "damaged: it has another checksum");
    }
}

ContentReader CommitObjects::open(const CommitFile& file) const {
    struct State {
        std::optional<FileObject> object;
        Sha256 digest;
        std::uint64_t left = 0;
        bool ended = false;
    };
    auto state = std::make_shared<State>();
    GlibFailure failure;
    state->object = load_file_object(repository_.handle(), file.checksum, failure);
    if (!state->object || !state->object->content) {
        throw damaged(file, "missing or unreadable");
    }
    state->digest.update(hashed_header(*state->object));
    state->left = file.size;
    return [this, &file, state](char* buffer, std::size_t size) -> std::size_t {
        if (state->ended) {
            return 0;
        }
        GlibFailure problem;
        const gssize got =
            g_input_stream_read(state->object->content.get(), buffer, size, nullptr, problem.out());
        if (got < 0) {
            throw damaged(file, fmt::format("damaged: {}", problem.get()->message));
        }
        const auto bytes = static_cast<std::size_t>(got);
        state->digest.update(buffer, bytes);
        if (bytes > state->left || (bytes == 0 && state->left > 0)) {
            throw damaged(file,
                          fmt::format("damaged: its content does not have {} bytes", file.size));
        }
        state->left -= bytes;
        if (bytes == 0) {
            state->ended = true;
            if (state->digest.hex() != file.checksum) {
                throw damaged(file, "damaged: it has another checksum");
            }
        }
        return bytes;
    };
}

std::string CommitObjects::read(const CommitFile& file) const {
    constexpr std::size_t step = 1U << 20U;
    const ContentReader reader = open(file);
    std::string content;
    while (true) {
        // One byte more than there should be: the reader then says so.
        const std::size_t begin = content.size();
        content.resize(begin + std::min<std::uint64_t>(step, file.size - begin + 1));
        const std::size_t got = reader(content.data() + begin, content.size() - begin);
        content.resize(begin + got);
        if (got == 0) {
            return content;
        }
    }
}

}  // namespace edgegpu
