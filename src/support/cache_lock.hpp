#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/context.hpp"
#include "support/file_lock.hpp"

namespace edgegpu {

/// What a command does with the cache.
enum class CacheUse {
    /// makes images: has a scratch directory that outlives it, with files of an image's owners
    build,
    /// reads metadata: has a scratch directory for the programs that it runs
    resolve
};

/// A command's part in a cache that others use at the same time.
///
/// `lock` in the cache is held shared by everybody, and alone by who prepares the cache: by a build
/// that found nobody there. That one removes what killed builds left unfinished, and what this
/// version cannot use. Besides, each has a slot of `work/` for itself (`work/0`, and `work/0.lock`
/// beside it), in which the next build on it finds the image's root as this one left it.
class CacheLock {
public:
    /// Takes the first slot that is free and empties it, except for what outlives a build there.
    /// `image_owner` says which ids own the image's files: where it is not what it was when they
    /// were made, these are removed, once nobody else uses the cache.
    CacheLock(const Context& ctx, CacheUse use, const std::string& image_owner = {});

    /// For Context::slot.
    [[nodiscard]] const std::filesystem::path& slot() const noexcept { return slot_.first; }

private:
    FileLock cache_;
    /// after the cache's lock: nobody else removes it then
    std::pair<std::filesystem::path, FileLock> slot_;
};

/// When the first of the commands that use the cache now began, in seconds since 1970; nothing
/// where none does.
[[nodiscard]] std::optional<std::int64_t> first_use(const Context& ctx);

/// Removes a slot's directory, `<cache>/work/0`; false where somebody uses it.
bool remove_slot(const Context& ctx, const std::filesystem::path& slot);

/// True for the names of files and directories that are renamed when they are complete:
/// `.new-…`, `NAME.XXXXXX` of mkstemp(3), and `NAME.PID`. For names below the cache only, while
/// nobody uses it: elsewhere such a name may mean something else.
[[nodiscard]] bool is_leftover(std::string_view name);

}  // namespace edgegpu
