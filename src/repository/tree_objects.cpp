#include "repository/tree_objects.hpp"

#include <set>
#include <utility>

#include "repository/tree_size.hpp"

namespace edgegpu {

namespace {

class TreeWalk {
public:
    TreeWalk(const Context& ctx, const CommitView& commit) : ctx_(ctx), commit_(commit) {}

    // NOLINTNEXTLINE(misc-no-recursion): no deeper than a path may be long (require_walkable)
    void directory(const CommitNode& node, const std::string& path) {
        ctx_.check_cancelled();
        if (seen_.insert(node.meta).second) {
            objects_.directories.push_back({OSTREE_OBJECT_TYPE_DIR_META, node.meta, path});
        }
        // The same content at another path has been walked through.
        if (!seen_.insert(node.checksum).second) {
            return;
        }
        for (const auto& [name, child] : commit_.list(node, path)) {
            const std::string place = (path == "/" ? "" : path) + '/' + name;
            if (child.directory) {
                directory(child, place);
            } else if (seen_.insert(child.checksum).second) {
                objects_.files.push_back({OSTREE_OBJECT_TYPE_FILE, child.checksum, place});
            }
        }
        objects_.directories.push_back({OSTREE_OBJECT_TYPE_DIR_TREE, node.checksum, path});
    }

    [[nodiscard]] TreeObjects take() { return std::move(objects_); }

private:
    const Context& ctx_;
    const CommitView& commit_;
    std::set<std::string> seen_;
    TreeObjects objects_;
};

}  // namespace

TreeObjects list_objects(const Context& ctx, const CommitView& commit) {
    require_walkable(ctx, commit);
    TreeWalk walk(ctx, commit);
    walk.directory(commit.root(), "/");
    return walk.take();
}

}  // namespace edgegpu
