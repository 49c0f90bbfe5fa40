#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "image/tree.hpp"

namespace edgegpu {

/// The directories of a commit as objects.
struct DirectoryObjects {
    /// object_path → bytes, each once
    std::map<std::string, std::string> objects;
    std::string root_tree;
    std::string root_meta;
};

/// Makes the dirtree and dirmeta objects of `entries`, bottom-up. `checksums` has the file object's
/// checksum of every file and link, by path. Throws Error where a parent is missing or no
/// directory, or ostree cannot carry a name.
[[nodiscard]] DirectoryObjects make_directory_objects(
    const Entries& entries, const std::unordered_map<std::string_view, std::string>& checksums);

}  // namespace edgegpu
