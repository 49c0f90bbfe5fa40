#pragma once

#include <string>

#include "support/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The cache, held by one build: two at once would pull each other's root away, and write to
/// each other's unfinished downloads. flock(2) on `lock` in the cache: a killed build holds
/// nothing. The file names the holder's process while it works and is empty after it ended in
/// order; a build that finds a name there removes what the killed one left unfinished.
class CacheLock {
public:
    /// Takes the lock and empties `work/`, except for what outlives a build there. Throws Error at
    /// once if another build has the cache.
    /// `image_owner` says which ids own the image's files: where it is not what it was when they
    /// were made, these are removed.
    explicit CacheLock(const Context& ctx, const std::string& image_owner = {});
    CacheLock(const CacheLock&) = delete;
    CacheLock& operator=(const CacheLock&) = delete;
    ~CacheLock();

private:
    Fd file_;
};

/// True for the names of files and directories that are renamed when they are complete:
/// `.new-…`, `NAME.XXXXXX` of mkstemp(3), and `NAME.PID`, if process PID is gone. For names below
/// the cache only: elsewhere such a name may mean something else.
[[nodiscard]] bool is_leftover(std::string_view name);

}  // namespace edgegpu
