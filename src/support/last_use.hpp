#pragma once

#include <chrono>
#include <filesystem>

#include "support/context.hpp"
#include "support/file_lock.hpp"

namespace edgegpu {

/// When something in the cache was last used is the modification time of a file that stands for it:
/// it survives an archive of the cache, which access times do not.

/// A use less than this ago is not recorded again.
inline constexpr std::chrono::minutes use_interval{10};

/// Records that what `path` stands for is used now. False, and nothing recorded, where it is not
/// there. What is recorded stays until the build ends, whatever `edgegpu cache prune` does
/// meanwhile. Throws Error naming the path.
[[nodiscard]] bool mark_used(const Context& ctx, const std::filesystem::path& path);

/// Waits until what is being removed is gone. A command calls it when others can see that it uses
/// the cache, and before it looks for anything.
void wait_for_removal(const Context& ctx);

/// While it lives, nobody records a use: so that what is looked at and then removed was not used in
/// between.
[[nodiscard]] FileLock stop_use(const Context& ctx);

}  // namespace edgegpu
