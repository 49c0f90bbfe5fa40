#pragma once

#include <map>
#include <string>

namespace edgegpu {

/// A tree of small files in one directory, all of root, readable for everybody, without attributes.
struct SmallTree {
    /// object_path → bytes, as an archive repository has them
    std::map<std::string, std::string> objects;
    /// checksums of the directory's objects
    std::string root_tree;
    std::string root_meta;
};

/// Makes it of names and contents. Throws Error for a name that ostree does not support.
[[nodiscard]] SmallTree make_small_tree(const std::map<std::string, std::string>& files);

}  // namespace edgegpu
