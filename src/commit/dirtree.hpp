#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "image/tree.hpp"

namespace edgegpu {

/// The dirtree and dirmeta objects of a commit.
struct DirectoryObjects {
    /// object_path → bytes
    std::map<std::string, std::string> objects;
    /// checksums of the root directory's objects
    std::string root_tree;
    std::string root_meta;
};

/// Makes the dirtree and dirmeta objects of `entries`. `checksums`: path → checksum of the object
/// of each file and link. Throws Error if a parent is missing or not a directory, or for a name
/// that ostree does not support.
[[nodiscard]] DirectoryObjects make_directory_objects(
    const Entries& entries, const std::unordered_map<std::string_view, std::string>& checksums);

}  // namespace edgegpu
