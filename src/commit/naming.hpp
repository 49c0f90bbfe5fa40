#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// A file or link of the tree and the name of its object.
struct NamedFile {
    std::string_view path;
    const Entry* entry = nullptr;
    std::string checksum;
    /// object_path
    std::string object;
};

/// Names the objects of all files and links, in the order of their paths. Content is read only if
/// the cache's `objects-index` (ObjectIndex) does not have its checksum, which is then added.
[[nodiscard]] std::vector<NamedFile> name_objects(const Context& ctx, const Entries& entries);

}  // namespace edgegpu
