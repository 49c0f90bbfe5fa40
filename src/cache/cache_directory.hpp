#pragma once

#include <filesystem>

namespace edgegpu {

/// What a command needs of a cache.
enum class CacheAccess { read, write };

/// The directory of a cache, created if it does not exist, as an absolute path without links. What
/// is in a cache runs in images and is signed, and is opened by name: so it must be the user's
/// alone. Throws ErrorKind::usage with the way out if
/// - the directory, or one of the directories and files of its first two levels, belongs to
/// somebody
///   else, can be written by others, or is a link (what is further below only the user can have
///   made);
/// - `wanted` is a link that somebody else than root made;
/// - it cannot be written, for CacheAccess::write.
/// To be called before the build's user namespace, where the ids have other names.
[[nodiscard]] std::filesystem::path open_cache(const std::filesystem::path& wanted,
                                               CacheAccess access);

}  // namespace edgegpu
