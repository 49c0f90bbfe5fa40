#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cache/file_lock.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// What a command does with the cache.
enum class CacheUse {
    /// makes images: its scratch directory is kept, and has files that belong to an image's owners
    build,
    /// reads metadata: its scratch directory is for the programs that it runs
    resolve
};

/// A command's use of a cache that others use at the same time.
///
/// Every user holds a shared lock on `lock` in the cache. A build that finds no other user takes it
/// exclusively for a moment, and removes what killed builds left unfinished and what this version
/// cannot use. Each user also has a slot of `work/` to itself (`work/0`, locked by `work/0.lock`),
/// in which the next build that takes the slot finds the image's root as this one left it.
class CacheLock {
public:
    /// Takes the first free slot and empties it, except for what is kept between builds.
    /// `image_owner` identifies the ids that own the image's files: if it has changed since they
    /// were made, they are removed as soon as nobody else uses the cache.
    CacheLock(const Context& ctx, CacheUse use, const std::string& image_owner = {});

    /// For Context::slot.
    [[nodiscard]] const std::filesystem::path& slot() const noexcept { return slot_.first; }

private:
    FileLock cache_;
    /// taken after the cache's lock, which keeps others from removing it
    std::pair<std::filesystem::path, FileLock> slot_;
};

/// When the oldest command that uses the cache now began, in seconds since 1970; nothing if none
/// does.
[[nodiscard]] std::optional<std::int64_t> first_use(const Context& ctx);

/// Removes a slot's directory, `<cache>/work/0`; false if it is in use.
bool remove_slot(const Context& ctx, const std::filesystem::path& slot);

/// True for the names of files and directories that are renamed when they are complete:
/// `.new-…`, `NAME.XXXXXX` of mkstemp(3), and `NAME.PID`. Only for names in a cache that
/// nobody uses: elsewhere such a name may mean something else.
[[nodiscard]] bool is_leftover(std::string_view name);

}  // namespace edgegpu
