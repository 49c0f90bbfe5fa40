#include "report/tree_changes.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "repository/tree_size.hpp"

namespace edgegpu {

namespace {

class Walk {
public:
    Walk(const CommitPair& pair, TreeChanges& changes) : pair_(pair), changes_(changes) {}

    void compare(const std::string& path, const CommitNode* before, const CommitNode* after) {
        if (before != nullptr && after != nullptr && *before == *after) {
            return;
        }
        pair_.ctx.check_cancelled();
        // What is equal is not read. Both trees are only measured if much differs.
        constexpr std::size_t few = 100'000;
        if (++visited_ == few || path.size() > TreeLimits{}.longest_path) {
            require_walkable(pair_.ctx, pair_.before);
            require_walkable(pair_.ctx, pair_.after);
        }
        note(path, before, after);
        const bool both = before != nullptr && after != nullptr && before->directory &&
                          after->directory && before->checksum == after->checksum;
        if (!both) {
            descend(path, before, after);
        }
    }

private:
    /// Adds the change of the path itself, unless only the content of two directories differs.
    void note(const std::string& path, const CommitNode* before, const CommitNode* after) {
        if (before != nullptr && after != nullptr && before->directory && after->directory &&
            before->meta == after->meta) {
            return;
        }
        PathChange change;
        if (before != nullptr) {
            change.before = pair_.before.describe(*before, path);
        }
        if (after != nullptr) {
            change.after = pair_.after.describe(*after, path);
        }
        change.content = change.before && change.after && content_differs(change, path);
        changes_.emplace(path, std::move(change));
    }

    [[nodiscard]] bool content_differs(const PathChange& change, const std::string& path) const {
        const CommitPath& before = *change.before;
        const CommitPath& after = *change.after;
        if (before.type != after.type) {
            return true;
        }
        if (before.type != EntryType::file) {
            return before.target != after.target;
        }
        if (before.size != after.size) {
            return true;
        }
        // The objects differ: without a difference in the header, it must be in the content.
        const bool header = before.mode != after.mode || before.uid != after.uid ||
                            before.gid != after.gid || before.label != after.label ||
                            before.attributes != after.attributes;
        return !header || !pair_.before.same_content(before, pair_.after, after, path);
    }

    void descend(const std::string& path, const CommitNode* before, const CommitNode* after) {
        CommitDirectory old_names;
        CommitDirectory new_names;
        if (before != nullptr && before->directory) {
            old_names = pair_.before.list(*before, path);
        }
        if (after != nullptr && after->directory) {
            new_names = pair_.after.list(*after, path);
        }
        const std::string prefix = path == "/" ? path : path + '/';
        for (const auto& [name, node] : old_names) {
            const auto other = new_names.find(name);
            compare(prefix + name, &node, other == new_names.end() ? nullptr : &other->second);
        }
        for (const auto& [name, node] : new_names) {
            if (!old_names.contains(name)) {
                compare(prefix + name, nullptr, &node);
            }
        }
    }

    const CommitPair& pair_;
    TreeChanges& changes_;
    std::size_t visited_ = 0;
};

constexpr std::uint64_t block = 4096;

std::uint64_t in_blocks(std::uint64_t bytes) {
    return bytes / block * block + (bytes % block == 0 ? 0 : block);
}

/// The objects of a commit but itself.
struct ObjectNames {
    std::unordered_set<std::string> files;
    /// dirtree → a path that has it, for errors; the same for dirmetas
    std::unordered_map<std::string, std::string> trees;
    std::unordered_map<std::string, std::string> metas;
};

/// Reads each dirtree once: a tree of a few objects may have any number of paths.
ObjectNames all_objects(const Context& ctx, const CommitView& view) {
    ObjectNames objects;
    std::vector<std::pair<CommitNode, std::string>> waiting{{view.root(), "/"}};
    while (!waiting.empty()) {
        ctx.check_cancelled();
        const auto [directory, path] = std::move(waiting.back());
        waiting.pop_back();
        objects.metas.emplace(directory.meta, path);
        if (!objects.trees.emplace(directory.checksum, path).second) {
            continue;
        }
        for (const auto& [name, node] : view.list(directory, path)) {
            if (node.directory) {
                waiting.emplace_back(node, path + name + '/');
            } else {
                objects.files.insert(node.checksum);
            }
        }
    }
    return objects;
}

void add_directories(const CommitPair& pair, const ObjectNames& known, NewContent& content) {
    const ObjectNames needed = all_objects(pair.ctx, pair.after);
    const auto add = [&](OstreeObjectType type, const auto& names, const auto& others) {
        for (const auto& [checksum, path] : names) {
            if (!others.contains(checksum)) {
                const std::uint64_t size = pair.after.metadata_size(type, checksum, path);
                ++content.directories;
                content.directory_bytes += size;
                content.disk_bytes += in_blocks(size);
            }
        }
    };
    add(OSTREE_OBJECT_TYPE_DIR_TREE, needed.trees, known.trees);
    add(OSTREE_OBJECT_TYPE_DIR_META, needed.metas, known.metas);
}

void add_commit(const CommitView& after, NewContent& content) {
    const VariantHandle detached = after.detached_metadata();
    const std::uint64_t own =
        after.metadata_size(OSTREE_OBJECT_TYPE_COMMIT, after.info().checksum, "");
    const std::uint64_t beside = detached ? g_variant_get_size(detached.get()) : 0;
    content.commit_bytes = own + beside;
    content.disk_bytes += in_blocks(own) + in_blocks(beside);
}

/// Of the whole set, since a device copies it as one whatever has changed in it.
std::uint64_t boot_files(const CommitView& view) {
    constexpr const char* modules = "/usr/lib/modules";
    std::uint64_t bytes = 0;
    const std::optional<CommitNode> top = view.find(modules);
    if (!top || !top->directory) {
        return 0;
    }
    for (const auto& [kernel, node] : view.list(*top, modules)) {
        const std::string directory = fmt::format("{}/{}", modules, kernel);
        for (const auto& [name, file] :
             node.directory ? view.list(node, directory) : CommitDirectory()) {
            const std::string path = directory + '/' + name;
            if (!file.directory && is_boot_file(path)) {
                bytes += in_blocks(view.describe(file, path).size);
            }
        }
    }
    return bytes;
}

bool has_new_boot_file(const TreeChanges& changes) {
    const ChangeRange range = changes_below(changes, "/usr/lib/modules");
    return std::ranges::any_of(range, [](const auto& item) {
        const PathChange& change = item.second;
        return change.after && (!change.before || change.content) && is_boot_file(item.first);
    });
}

}  // namespace

const char* PathChange::kind() const noexcept {
    return !before ? "added" : !after ? "removed" : "changed";
}

std::vector<std::string> PathChange::differences() const {
    std::vector<std::string> what;
    if (!before || !after) {
        return what;
    }
    const auto add = [&](bool differs, const char* name) {
        if (differs) {
            what.emplace_back(name);
        }
    };
    add(before->type != after->type, "type");
    if (before->type == after->type) {
        add(content, before->type == EntryType::symlink ? "target" : "content");
    }
    add(before->mode != after->mode, "mode");
    add(before->uid != after->uid || before->gid != after->gid, "owner");
    add(before->label != after->label, "label");
    add(before->attributes != after->attributes, "attributes");
    return what;
}

TreeChanges compare_trees(const CommitPair& pair) {
    TreeChanges changes;
    Walk(pair, changes).compare("/", &pair.before.root(), &pair.after.root());
    return changes;
}

bool is_boot_file(std::string_view path) {
    constexpr std::string_view top = "/usr/lib/modules/";
    const std::size_t slash = path.find('/', std::min(top.size(), path.size()));
    if (!path.starts_with(top) || slash == std::string_view::npos) {
        return false;
    }
    const std::string_view name = path.substr(slash + 1);
    return name == "vmlinuz" || name == "initramfs.img" || name == "initramfs" ||
           name == "devicetree" || name.starts_with("dtb/");
}

NewContent new_content(const CommitPair& pair, const TreeChanges& changes) {
    NewContent content;
    if (pair.before.info().checksum == pair.after.info().checksum) {
        return content;
    }
    add_commit(pair.after, content);
    if (changes.empty()) {
        return content;
    }
    ObjectNames known = all_objects(pair.ctx, pair.before);
    add_directories(pair, known, content);
    for (const auto& [path, change] : changes) {
        if (!change.after || change.after->checksum.empty() ||
            !known.files.insert(change.after->checksum).second) {
            continue;
        }
        const std::uint64_t stored = pair.after.stored_size(change.after->checksum);
        ++content.objects;
        content.bytes += change.after->size;
        content.stored_bytes += stored;
        content.disk_bytes += in_blocks(change.after->size);
        if (content.largest_path.empty() || stored > content.largest_bytes) {
            content.largest_path = path;
            content.largest_bytes = stored;
        }
    }
    content.boot_bytes = has_new_boot_file(changes) ? boot_files(pair.after) : 0;
    return content;
}

ChangeRange changes_below(const TreeChanges& changes, std::string_view directory) {
    const std::string first = std::string(directory) + '/';
    // '0' is the character after '/'.
    const std::string last = std::string(directory) + '0';
    return {changes.lower_bound(first), changes.lower_bound(last)};
}

}  // namespace edgegpu
