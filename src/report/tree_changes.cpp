#include "report/tree_changes.hpp"

#include <unordered_set>
#include <utility>

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

/// The checksums of all file objects of a commit. Each dirtree is read once.
std::unordered_set<std::string> file_objects(const Context& ctx, const CommitView& view) {
    std::unordered_set<std::string> objects;
    std::unordered_set<std::string> trees;
    std::vector<std::pair<CommitNode, std::string>> waiting{{view.root(), "/"}};
    while (!waiting.empty()) {
        ctx.check_cancelled();
        const auto [directory, path] = std::move(waiting.back());
        waiting.pop_back();
        if (!trees.insert(directory.checksum).second) {
            continue;
        }
        for (const auto& [name, node] : view.list(directory, path)) {
            if (node.directory) {
                waiting.emplace_back(node, path + name + '/');
            } else {
                objects.insert(node.checksum);
            }
        }
    }
    return objects;
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

NewContent new_content(const CommitPair& pair, const TreeChanges& changes) {
    NewContent content;
    if (changes.empty()) {
        return content;
    }
    std::unordered_set<std::string> known = file_objects(pair.ctx, pair.before);
    for (const auto& [path, change] : changes) {
        if (change.after && !change.after->checksum.empty() &&
            known.insert(change.after->checksum).second) {
            ++content.objects;
            content.bytes += change.after->size;
            content.stored_bytes += pair.after.stored_size(change.after->checksum);
        }
    }
    return content;
}

ChangeRange changes_below(const TreeChanges& changes, std::string_view directory) {
    const std::string first = std::string(directory) + '/';
    // '0' is the character after '/'.
    const std::string last = std::string(directory) + '0';
    return {changes.lower_bound(first), changes.lower_bound(last)};
}

}  // namespace edgegpu
