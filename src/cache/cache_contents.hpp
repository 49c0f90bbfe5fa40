#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "execution/context.hpp"

namespace edgegpu {

/// The contents of a cache, and which of them to remove when space is short.

/// Something that is removed as a whole.
struct CachedItem {
    /// `kinds()[…].name`
    std::string_view kind;
    std::filesystem::path path;
    /// Bytes on disk; for a slot of `work/` without the files that it shares with imports.
    std::uint64_t size = 0;
    /// Seconds since 1970.
    std::int64_t last_use = 0;
};

/// One kind of items, and how many there are.
struct CacheSummary {
    std::string_view kind;
    /// "RPMs as they were downloaded"
    std::string_view what;
    std::size_t items = 0;
    std::uint64_t size = 0;
    /// of the most recently used item; nothing if there is none
    std::optional<std::int64_t> last_use;
};

/// Everything in the cache, unordered. Items made or removed concurrently may be missing. Items
/// that belong to an image's owners are visible only in the user namespace of a build.
[[nodiscard]] std::vector<CachedItem> list_cache(const Context& ctx);

/// All kinds, in the order in which a build makes them, including those without items.
[[nodiscard]] std::vector<CacheSummary> summarise(const std::vector<CachedItem>& items);

/// The bytes of all.
[[nodiscard]] std::uint64_t total_size(const std::vector<CachedItem>& items);

/// What to remove: items unused for longer than `unused_for`, then the least recently used ones
/// until the rest is no larger than `max_size`.
struct PruneLimits {
    std::optional<std::uint64_t> max_size;
    std::optional<std::chrono::seconds> unused_for;
    /// Only report what would be removed.
    bool dry_run = false;
};

/// Removes items, the least recently used first; safe while builds run: whatever was used since the
/// oldest running build began, or shortly before, stays regardless of the limits. Returns what was
/// removed. Throws Error naming a path that cannot be removed.
[[nodiscard]] std::vector<CachedItem> prune_cache(const Context& ctx, const PruneLimits& limits);

}  // namespace edgegpu
