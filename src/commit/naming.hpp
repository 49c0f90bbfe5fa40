#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A file or link of the tree and the object it becomes.
struct FileObject {
    std::string_view path;
    const Entry* entry = nullptr;
    std::string checksum;
    /// object_path
    std::string object;
};

/// Names the object of every file and link, in the order of their paths. Content whose checksum the
/// cache's `objects-index` knows is not read; what had to be read is remembered there.
[[nodiscard]] std::vector<FileObject> name_objects(const Context& ctx, const Entries& entries);

}  // namespace edgegpu
