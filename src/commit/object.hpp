#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// What precedes the content in the hash that names a file object (libostree, "file header"): 4
/// bytes length (big-endian), 4 bytes padding, then the GVariant `(uuuusa(ayay))` of uid, gid,
/// mode, device, link target and extended attributes, with numbers in big-endian. `path` is for
/// errors. Throws Error if the target of a link is not UTF-8.
[[nodiscard]] std::string object_header(const Entry& entry, std::string_view path);

/// The header of a `.filez`: like `object_header`, but `(tuuuusa(ayay))` with the size of the
/// content first.
[[nodiscard]] std::string archive_header(const Entry& entry, std::string_view path);

/// A serialised `.dirmeta` of a directory entry: `(uuua(ayay))`.
[[nodiscard]] std::string dirmeta_object(const Entry& entry);

/// The content of a directory, for its `.dirtree`; checksums are hexadecimal.
struct DirectoryContent {
    /// name, checksum of the file object
    std::vector<std::pair<std::string, std::string>> files;
    struct Directory {
        std::string name;
        std::string tree_checksum;
        std::string meta_checksum;
    };
    std::vector<Directory> directories;
};

/// A serialised `.dirtree`: `(a(say)a(sayay))`, both sorted by name. `path` is for errors. Throws
/// Error for a name that ostree does not support (not UTF-8, "." or "..").
[[nodiscard]] std::string dirtree_object(DirectoryContent content, std::string_view path);

/// The checksum (hexadecimal) of a file object whose `object_header` is `header`; reads the
/// content. Throws Error if it does not have entry.size bytes.
[[nodiscard]] std::string content_checksum(const Entry& entry, std::string_view header);

/// The path of an object below `objects/` of a repository: "ab/cdef….filez".
[[nodiscard]] std::string object_path(std::string_view checksum, std::string_view extension);

}  // namespace edgegpu
