#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// An object of a commit, other than the commit itself.
struct TreeObject {
    OstreeObjectType type = OSTREE_OBJECT_TYPE_FILE;
    std::string checksum;
    /// the first path that has it, for messages
    std::string path;
};

/// What a commit needs, each object once, in the order in which a repository may get them: nothing
/// comes before what it refers to.
struct TreeObjects {
    /// contents: files and links
    std::vector<TreeObject> files;
    /// dirmetas, and dirtrees behind everything that is in them
    std::vector<TreeObject> directories;
};

/// Walks through a commit. Throws Error for objects that are missing or malformed.
[[nodiscard]] TreeObjects list_objects(const Context& ctx, const CommitView& commit);

}  // namespace edgegpu
