#include "encapsulate/container_tree.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "repository/tree_size.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

class TreeReader {
public:
    TreeReader(const Context& ctx, const CommitView& commit)
        : ctx_(ctx), commit_(commit), system_(commit.info().update_system) {}

    [[nodiscard]] ContainerTree read() {
        require_walkable(ctx_, commit_);
        descend(commit_.root(), "/");
        for (auto& [checksum, object] : tree_.objects) {
            ctx_.check_cancelled();
            const CommitPath described =
                commit_.describe({false, checksum, ""}, object.paths.front());
            object.symlink = described.type == EntryType::symlink;
            object.size = described.size;
            std::sort(object.paths.begin(), object.paths.end());
        }
        return std::move(tree_);
    }

private:
    void descend(const CommitNode& directory, const std::string& path) {
        ctx_.check_cancelled();
        const CommitPath described = commit_.describe(directory, path);
        tree_.directories.push_back({path,
                                     directory.checksum,
                                     directory.meta,
                                     {described.mode, described.uid, described.gid}});
        const std::string prefix = path == "/" ? path : path + '/';
        for (const auto& [name, node] : commit_.list(directory, path)) {
            const std::string child = prefix + name;
            if (child == "/etc" && system_ == UpdateSystem::ostree) {
                throw commit_.malformed(child, "commits have it as /usr/etc");
            }
            if (name.starts_with(".wh.") && !path_in_image(child, system_).empty()) {
                throw error(
                    "commit {}: {}: container engines take this name for a whiteout, which "
                    "removes other files",
                    commit_.info().name, printable(child))
                    .hinted(
                        "a container image cannot have the file: remove it from the commit, or "
                        "deliver the commit by its repository or as a disk image");
            }
            if (node.directory) {
                descend(node, child);
            } else {
                tree_.objects[node.checksum].paths.push_back(child);
            }
        }
    }

    const Context& ctx_;
    const CommitView& commit_;
    UpdateSystem system_;
    ContainerTree tree_;
};

}  // namespace

ContainerTree read_container_tree(const Context& ctx, const CommitView& commit) {
    return TreeReader(ctx, commit).read();
}

std::string path_in_image(const std::string& path, UpdateSystem system) {
    if (system == UpdateSystem::snapshots) {
        return path.substr(1);
    }
    if (is_below(path, "/sysroot")) {
        return {};
    }
    return path.substr(is_below(path, "/usr/etc") ? std::string_view("/usr/").size() : 1);
}

}  // namespace edgegpu
