#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "image/image_root.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"
#include "support/stored_file.hpp"

namespace edgegpu {

/// A file entry (root:root, `mode`) of what the cache holds already.
[[nodiscard]] Entry make_stored_entry(const StoredFile& stored, unsigned mode);

/// Owner, mode and capabilities of an entry.
[[nodiscard]] FileAttributes attributes_of(const Entry& entry);

/// Makes `path` of the directory what `entry` says (content, owner, mode, capabilities), replacing
/// what is there; an existing directory keeps its content. Parents must exist.
void materialise(const Entry& entry, const ImageRoot& root, std::string_view path);

/// `resolve_in_tree` for entries without a tree.
[[nodiscard]] std::string resolve_in_entries(const Entries& entries, std::string_view path,
                                             bool follow_last);

}  // namespace edgegpu
