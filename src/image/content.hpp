#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cache/stored_file.hpp"
#include "execution/context.hpp"
#include "image/image_root.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// A file entry (root:root, `mode`) of content that is in the cache.
[[nodiscard]] Entry make_stored_entry(const StoredFile& stored, unsigned mode);

/// Owner, mode and capabilities of an entry.
[[nodiscard]] FileAttributes attributes_of(const Entry& entry);

/// Creates `entry` (content, owner, mode, capabilities) at `path` below the directory, replacing an
/// existing object; an existing directory keeps its content. Parents must exist. Throws Error.
void materialise(const Entry& entry, const ImageRoot& root, std::string_view path);

/// Like `resolve_in_tree`, for entries alone.
[[nodiscard]] std::string resolve_in_entries(const Entries& entries, std::string_view path,
                                             bool follow_last);

}  // namespace edgegpu
