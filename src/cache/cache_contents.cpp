#include "cache/cache_contents.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <limits>
#include <map>

#include <sys/stat.h>

#include "cache/cache_lock.hpp"
#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// How the items of a kind are stored in its directory.
enum class Layout {
    /// each is a file
    files,
    /// each is a file, in a directory named by its first two digits
    spread_files,
    /// each is a directory
    directories,
    /// each is a slot: a directory, and its lock beside it
    slots
};

struct Kind {
    std::string_view name;
    std::string_view what;
    Layout layout;
    /// of a directory: the file whose time records the last use
    std::string_view stamp;
};

constexpr std::array<Kind, 18> known_kinds{{
    {"repos", "metadata of repositories", Layout::directories, "current"},
    {"keys", "keys of repositories", Layout::files, ""},
    {"packages", "RPMs as they were downloaded", Layout::files, ""},
    {"verified", "which RPMs were verified with which keys", Layout::files, ""},
    {"parents", "commits of images that are parents", Layout::directories, "seal"},
    {"parent-files", "files of parents: what is in them", Layout::directories, "seal"},
    {"imports", "unpacked packages", Layout::directories, "manifest"},
    {"bundles", "rendered bundles", Layout::directories, "seal"},
    {"kmods", "compiled kernel modules", Layout::directories, "seal"},
    {"composed", "what scriptlets made of packages", Layout::directories, "seal"},
    {"depmod", "indexes of kernel modules", Layout::directories, "seal"},
    {"modules", "compiled policy modules", Layout::directories, "seal"},
    {"policy", "SELinux policies", Layout::directories, "seal"},
    {"initramfs", "initramfs images: what they were made of", Layout::directories, "seal"},
    {"images", "container images: what is in them", Layout::directories, "seal"},
    {"content", "files that come from no package", Layout::spread_files, ""},
    {"deflate", "compressed files", Layout::spread_files, ""},
    {"work", "roots of images, for the next build", Layout::slots, ""},
}};

/// Items that are removed at a time, while nobody can record a use.
constexpr std::size_t batch_size = 64;

std::uint64_t blocks(const struct stat& status) {
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

/// The bytes of all files below a directory; with `own`, only of those without another hard link.
std::uint64_t size_below(const Context& ctx, const fs::path& directory, bool own) {
    ctx.check_cancelled();
    std::uint64_t size = 0;
    for (const fs::directory_entry& entry : children_of(directory)) {
        const fs::path& path = entry.path();
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            size += size_below(ctx, path, own);
        } else if (own && status.st_nlink > 1) {
            continue;
        }
        size += blocks(status);
    }
    return size;
}

/// The file whose time records when an item was last used.
fs::path stamp_of(const Kind& kind, const fs::path& path) {
    if (kind.layout == Layout::slots) {
        return fs::path(path).concat(".lock");
    }
    return kind.stamp.empty() ? path : path / kind.stamp;
}

std::optional<std::int64_t> last_use_of(const Kind& kind, const fs::path& path) {
    struct stat status {};
    if (::lstat(stamp_of(kind, path).c_str(), &status) == 0 ||
        // Half of something, which nobody can use.
        ::lstat(path.c_str(), &status) == 0) {
        return status.st_mtim.tv_sec;
    }
    return std::nullopt;
}

void add_item(const Context& ctx, const Kind& kind, const fs::path& path,
              std::vector<CachedItem>& items) {
    struct stat status {};
    const std::optional<std::int64_t> last_use = last_use_of(kind, path);
    if (!last_use || ::lstat(path.c_str(), &status) != 0) {
        return;  // Somebody removed it.
    }
    const bool is_directory = S_ISDIR(status.st_mode);
    if (kind.layout == Layout::slots && !is_directory) {
        return;
    }
    const std::uint64_t below =
        is_directory ? size_below(ctx, path, kind.layout == Layout::slots) : 0;
    items.push_back({kind.name, path, blocks(status) + below, *last_use});
}

const Kind& kind_of(const CachedItem& item) {
    return *std::ranges::find_if(known_kinds,
                                 [&](const Kind& kind) { return kind.name == item.kind; });
}

bool is_slot(const CachedItem& item) {
    return kind_of(item).layout == Layout::slots;
}

/// Gives an unused item a name that no build looks for. Empty if it is in use.
fs::path set_aside(const CachedItem& item, std::int64_t in_use_since) {
    const std::optional<std::int64_t> last_use = last_use_of(kind_of(item), item.path);
    if (!last_use || *last_use != item.last_use || *last_use >= in_use_since) {
        return {};
    }
    fs::path aside = item.path.parent_path() / (".new-removed-" + item.path.filename().string());
    remove_tree(aside);  // of a run that was killed
    if (::rename(item.path.c_str(), aside.c_str()) != 0) {
        if (errno == ENOENT) {
            return {};
        }
        throw errno_error(item.path.string(), errno);
    }
    return aside;
}

/// What was used since then may still be in use.
std::int64_t begin_of_use(const Context& ctx) {
    const std::optional<std::int64_t> first = first_use(ctx);
    return first ? *first - std::chrono::seconds(use_interval).count() - 1
                 : std::numeric_limits<std::int64_t>::max();
}

/// The roots of slots have hard links to the files of imports: when imports go, the roots go too.
/// Sizes are those before the removal, when such files count as the import's.
void add_roots_of_imports(const std::vector<CachedItem>& items, std::int64_t in_use_since,
                          std::vector<CachedItem>& chosen) {
    const auto is_import = [](const CachedItem& item) { return item.kind == "imports"; };
    if (std::ranges::none_of(chosen, is_import)) {
        return;
    }
    std::erase_if(chosen, is_slot);
    std::ranges::copy_if(items, std::back_inserter(chosen), [&](const CachedItem& item) {
        return is_slot(item) && item.last_use < in_use_since;
    });
}

/// What exceeds the limits and is not in use, the least recently used first.
std::vector<CachedItem> choose(std::vector<CachedItem> items, const PruneLimits& limits,
                               std::int64_t in_use_since) {
    std::uint64_t size = total_size(items);
    const std::int64_t now = std::time(nullptr);
    std::ranges::sort(items, [](const CachedItem& a, const CachedItem& b) {
        return a.last_use != b.last_use ? a.last_use < b.last_use : a.path < b.path;
    });
    std::vector<CachedItem> chosen;
    for (const CachedItem& item : items) {
        const bool old = limits.unused_for && now - item.last_use > limits.unused_for->count();
        const bool too_much = limits.max_size && size > *limits.max_size;
        if ((old || too_much) && item.last_use < in_use_since) {
            size -= item.size;
            chosen.push_back(item);
        }
    }
    add_roots_of_imports(items, in_use_since, chosen);
    return chosen;
}

/// Removes up to a batch of items, from `begin` on; returns those that were removed.
std::vector<CachedItem> remove_batch(const Context& ctx, const std::vector<CachedItem>& items,
                                     std::size_t begin) {
    std::vector<CachedItem> removed;
    std::vector<fs::path> aside;
    {
        const FileLock gate = stop_use(ctx);
        const std::int64_t in_use_since = begin_of_use(ctx);
        for (std::size_t i = begin; i < std::min(items.size(), begin + batch_size); ++i) {
            if (is_slot(items[i])) {
                continue;
            }
            if (fs::path place = set_aside(items[i], in_use_since); !place.empty()) {
                removed.push_back(items[i]);
                aside.push_back(std::move(place));
            }
        }
    }
    for (const fs::path& path : aside) {
        remove_tree(path);
    }
    return removed;
}

}  // namespace

std::vector<CachedItem> list_cache(const Context& ctx) {
    std::vector<CachedItem> items;
    for (const Kind& kind : known_kinds) {
        for (const fs::directory_entry& entry : children_of(ctx.cache / kind.name)) {
            const fs::path& path = entry.path();
            if (path.filename().string().starts_with(".new-")) {
                continue;
            }
            if (kind.layout != Layout::spread_files) {
                add_item(ctx, kind, path, items);
                continue;
            }
            for (const fs::directory_entry& file : children_of(path)) {
                add_item(ctx, kind, file.path(), items);
            }
        }
    }
    return items;
}

std::vector<CacheSummary> summarise(const std::vector<CachedItem>& items) {
    std::map<std::string_view, CacheSummary> found;
    for (const CachedItem& item : items) {
        CacheSummary& summary = found[item.kind];
        ++summary.items;
        summary.size += item.size;
        summary.last_use = std::max(summary.last_use.value_or(item.last_use), item.last_use);
    }
    std::vector<CacheSummary> all;
    for (const Kind& kind : known_kinds) {
        CacheSummary summary = found[kind.name];
        summary.kind = kind.name;
        summary.what = kind.what;
        all.push_back(summary);
    }
    return all;
}

std::uint64_t total_size(const std::vector<CachedItem>& items) {
    std::uint64_t size = 0;
    for (const CachedItem& item : items) {
        size += item.size;
    }
    return size;
}

std::vector<CachedItem> prune_cache(const Context& ctx, const PruneLimits& limits) {
    std::vector<CachedItem> chosen = choose(list_cache(ctx), limits, begin_of_use(ctx));
    if (limits.dry_run) {
        return chosen;
    }
    std::vector<CachedItem> removed;
    for (std::size_t begin = 0; begin < chosen.size(); begin += batch_size) {
        ctx.check_cancelled();
        std::ranges::move(remove_batch(ctx, chosen, begin), std::back_inserter(removed));
    }
    for (const CachedItem& item : chosen) {
        if (is_slot(item) && remove_slot(ctx, item.path)) {
            removed.push_back(item);
        }
    }
    return removed;
}

}  // namespace edgegpu
