#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// The bytes hashed before the content to give a file object its name: 4 bytes length
/// (big-endian), 4 bytes padding, then the GVariant `(uuuusa(ayay))` of owner, mode, device, link
/// target and extended attributes, numbers big-endian (libostree, "file header"). `path` is for
/// errors only. Throws Error where ostree cannot carry the entry (target that is not UTF-8).
[[nodiscard]] std::string object_header(const Entry& entry, std::string_view path);

/// The bytes at the beginning of a `.filez`: as `object_header`, but `(tuuuusa(ayay))` with the
/// size of the content in front.
[[nodiscard]] std::string archive_header(const Entry& entry, std::string_view path);

/// A serialised `.dirmeta` of a directory entry: `(uuua(ayay))`.
[[nodiscard]] std::string dirmeta_object(const Entry& entry);

/// What a directory holds, to become a `.dirtree`.
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

/// A serialised `.dirtree`: `(a(say)a(sayay))`, both sorted by name. `path` is for errors only.
/// Throws Error for a name that ostree cannot carry (not UTF-8, "." or "..").
[[nodiscard]] std::string dirtree_object(DirectoryContent content, std::string_view path);

/// Checksum (hexadecimal) of a file object whose `object_header` is `header`: reads the content.
/// Throws Error if it does not have entry.size bytes.
[[nodiscard]] std::string content_checksum(const Entry& entry, std::string_view header);

/// "ab/cdef….filez": where libostree keeps an object below `objects/`.
[[nodiscard]] std::string object_path(std::string_view checksum, std::string_view extension);

/// The 32 bytes of a checksum in hexadecimal. Throws Error if it is none.
[[nodiscard]] std::string checksum_bytes(std::string_view checksum);

}  // namespace edgegpu
