#pragma once

#include <chrono>
#include <filesystem>

#include "cache/file_lock.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The last use of an item of the cache is recorded as the modification time of a file that stands
/// for it: unlike access times, it survives archiving the cache.

/// A use less than this ago is not recorded again.
inline constexpr std::chrono::minutes use_interval{10};

/// Records that what `path` stands for is used now. Returns false, and records nothing, if it does
/// not exist. From then on, `edgegpu cache prune` leaves it alone until the build ends. Throws
/// Error naming the path.
[[nodiscard]] bool mark_used(const Context& ctx, const std::filesystem::path& path);

/// Waits until a removal in progress is done. A command calls it once others can see that it uses
/// the cache, and before it looks for anything.
void wait_for_removal(const Context& ctx);

/// While the lock lives, nobody can record a use, so that an item cannot come into use between the
/// check and its removal.
[[nodiscard]] FileLock stop_use(const Context& ctx);

}  // namespace edgegpu
