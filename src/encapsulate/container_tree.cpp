#include "encapsulate/container_tree.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/error.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

// As for the comparison of commits (report/): more than any image has, but within the memory of a
// small machine. A malicious tree can have any number of paths with few objects.
constexpr std::size_t most_tree_paths = 1'000'000;
constexpr std::size_t deepest_tree_path = 200;

class TreeReader {
public:
    TreeReader(const Context& ctx, const CommitView& commit) : ctx_(ctx), commit_(commit) {}

    [[nodiscard]] ContainerTree read() {
        descend(commit_.root(), "/", 0);
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
    void descend(const CommitNode& directory, const std::string& path, std::size_t depth) {
        ctx_.check_cancelled();
        if (depth > deepest_tree_path) {
            throw too("deep", path);
        }
        const CommitPath described = commit_.describe(directory, path);
        tree_.directories.push_back({path,
                                     directory.checksum,
                                     directory.meta,
                                     {described.mode, described.uid, described.gid}});
        const std::string prefix = path == "/" ? path : path + '/';
        for (const auto& [name, node] : commit_.list(directory, path)) {
            if (++paths_ > most_tree_paths) {
                throw too("large", path);
            }
            const std::string child = prefix + name;
            if (child == "/etc") {
                throw commit_.malformed(child, "commits have it as /usr/etc");
            }
            if (node.directory) {
                descend(node, child, depth + 1);
            } else {
                tree_.objects[node.checksum].paths.push_back(child);
            }
        }
    }

    [[nodiscard]] Error too(const char* what, const std::string& path) const {
        return error("{}: the tree of {} is too {} for an image", path, commit_.info().name, what)
            .hinted("no image is like that: where does this commit come from?");
    }

    const Context& ctx_;
    const CommitView& commit_;
    ContainerTree tree_;
    std::size_t paths_ = 0;
};

}  // namespace

ContainerTree read_container_tree(const Context& ctx, const CommitView& commit) {
    return TreeReader(ctx, commit).read();
}

std::string path_in_image(const std::string& path) {
    if (is_below(path, "/sysroot")) {
        return {};
    }
    return path.substr(is_below(path, "/usr/etc") ? std::string_view("/usr/").size() : 1);
}

}  // namespace edgegpu
