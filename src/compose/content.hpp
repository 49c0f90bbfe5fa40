#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "compose/tree.hpp"
#include "support/context.hpp"
#include "support/stored_file.hpp"

namespace edgegpu {

/// A file entry (root:root, `mode`) of what the cache holds already.
[[nodiscard]] Entry make_stored_entry(const StoredFile& stored, unsigned mode);

/// Copies `source` to `target` (which must not exist), inside the kernel where possible; mode 0600.
/// Throws Error naming the path.
void copy_file_content(const std::filesystem::path& source, const std::filesystem::path& target);

/// Makes `path` on disk what `entry` says (content, owner, mode, capabilities), replacing what is
/// there; an existing directory keeps its content. Parents must exist.
void materialise(const Entry& entry, const std::filesystem::path& path);

/// `resolve_in_tree` for entries without a tree.
[[nodiscard]] std::string resolve_in_entries(const Entries& entries, std::string_view path,
                                             bool follow_last);

}  // namespace edgegpu
