#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/context.hpp"

namespace edgegpu {

/// What lies in a cache, and what of it is worth its room.

/// Something that is removed as a whole.
struct CachedItem {
    /// `kinds()[…].name`
    std::string_view kind;
    std::filesystem::path path;
    /// Bytes on the disk. Of a slot of `work/` without what it shares with imports.
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
    /// of the one that was used last; nothing where there is none
    std::optional<std::int64_t> last_use;
};

/// Everything in the cache, in no order. What others make or remove meanwhile may be missing.
/// Where items belong to an image's owners, it takes the namespace of a build to see them.
[[nodiscard]] std::vector<CachedItem> list_cache(const Context& ctx);

/// All kinds, in the order in which a build makes them, those that have no item too.
[[nodiscard]] std::vector<CacheSummary> summarise(const std::vector<CachedItem>& items);

/// The bytes of all.
[[nodiscard]] std::uint64_t total_size(const std::vector<CachedItem>& items);

/// What is to go: of all, what was not used for so long; then the least recently used until the
/// rest has no more than that size.
struct PruneLimits {
    std::optional<std::uint64_t> max_size;
    std::optional<std::chrono::seconds> unused_for;
    /// Tell only what would be removed.
    bool dry_run = false;
};

/// Removes items, the least recently used first, while builds run: what was used since the first of
/// those that run began, or shortly before, stays whatever the limits say. Returns what was
/// removed. Throws Error naming the path of what cannot be removed.
[[nodiscard]] std::vector<CachedItem> prune_cache(const Context& ctx, const PruneLimits& limits);

}  // namespace edgegpu
