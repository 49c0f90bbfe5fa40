#include "cache/cache_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// To be raised whenever the meaning or the place of something in the cache changes.
constexpr std::string_view cache_format = "edgegpu cache 2\n";

/// Removed if of another format. What is not named here is found by its content's digest alone.
constexpr std::array<const char*, 12> formatted{"bundles",      "composed", "depmod", "images",
                                                "initramfs",    "kmods",    "labels", "modules",
                                                "parent-files", "parents",  "policy", "work"};

/// In a slot: what the next build reuses, or (the layers) removes itself, because there may be a
/// mount over it.
constexpr std::array<std::string_view, 5> kept_in_slot{"lower", "lower.index", "upper", "overlay",
                                                       "root"};

/// Exists if a build was killed while others used the cache: another build has taken its slot since
/// then, but what it left elsewhere is still there.
constexpr const char* killed_mark = "work/killed";

bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void empty_slot(const fs::path& slot) {
    for (const fs::directory_entry& entry : children_of(slot)) {
        const std::string name = entry.path().filename().string();
        if (std::ranges::find(kept_in_slot, name) == kept_in_slot.end()) {
            remove_tree(entry.path());
        }
    }
}

/// Unfinished files and directories below `directory`, at most `depth` directories down.
void remove_leftovers(const fs::path& directory, int depth) {
    for (const fs::directory_entry& entry : children_of(directory)) {
        std::error_code code;
        const std::string name = entry.path().filename().string();
        if (is_leftover(name)) {
            remove_tree(entry.path());
        } else if (depth > 0 && !entry.is_symlink(code) && entry.is_directory(code)) {
            remove_leftovers(entry.path(), depth - 1);
        }
    }
}

void remove_all_leftovers(const fs::path& cache) {
    for (const fs::directory_entry& entry : children_of(cache)) {
        const std::string name = entry.path().filename().string();
        // Unpacked packages and layers appear as a whole and hold many thousand files, whose names
        // are the packages'.
        const bool whole = name == "imports" || name == "composed";
        if (name != "work") {
            remove_leftovers(entry.path(), whole ? 0 : 2);
        }
    }
    remove_tree(cache / "locks");
}

/// Whether a build was killed since the cache was prepared; its slot is empty afterwards.
bool clean_slots(const fs::path& cache) {
    std::error_code code;
    bool killed = fs::remove(cache / killed_mark, code);
    for (const fs::directory_entry& entry : children_of(cache / "work")) {
        if (entry.path().extension() == ".lock" && entry.file_size(code) > 0 && !code) {
            killed = true;
            empty_slot(fs::path(entry.path()).replace_extension());
            fs::remove(entry.path(), code);
        }
    }
    return killed;
}

/// The content of a small file of the cache; empty if there is none.
std::string mark_of(const fs::path& path) {
    std::error_code code;
    return fs::exists(path, code) ? read_file(path, 4096) : std::string();
}

/// Removes what belongs to an image's owners if they were mapped to other ids than now.
void forget_others_files(const fs::path& cache, const std::string& image_owner) {
    const std::string before = mark_of(cache / "owner");
    if (before == image_owner) {
        return;
    }
    for (const char* name : {"imports", "composed", "work"}) {
        try {
            remove_tree(cache / name);
        } catch (const Error& failure) {
            throw Error(failure.message())
                .traced(fmt::format("the files there belong to ids {}, but this build has {}",
                                    before.empty() ? "that are not known" : before, image_owner))
                .hinted(fmt::format("sudo rm -rf {}, or choose another --cache-dir",
                                    shell_word((cache / name).string())));
        }
    }
    write_file(cache / "owner", image_owner);
}

bool is_prepared(const fs::path& cache, const std::string& image_owner) {
    return mark_of(cache / "format") == cache_format && mark_of(cache / "owner") == image_owner;
}

/// Called while nobody else uses the cache.
void prepare(const fs::path& cache, const std::string& image_owner) {
    forget_others_files(cache, image_owner);
    if (mark_of(cache / "format") != cache_format) {
        for (const char* name : formatted) {
            remove_tree(cache / name);
        }
        write_file(cache / "format", cache_format);
    }
    if (clean_slots(cache)) {
        remove_all_leftovers(cache);
    }
}

/// Creates the directories that have files of images, and takes others' access to them away: files
/// have set-id bits and capabilities, which would give others the image's ids, and so the files of
/// every image that is built here.
void close_to_others(const fs::path& cache) {
    for (const char* name : {"imports", "composed", "work"}) {
        const fs::path directory = cache / name;
        make_directories(directory);
        if (::chmod(directory.c_str(), 0700) != 0) {
            throw errno_error(directory.string(), errno);
        }
    }
}

FileLock share_cache(const Context& ctx, CacheUse use, const std::string& image_owner) {
    make_directories(ctx.cache);
    const fs::path path = ctx.cache / "lock";
    constexpr std::string_view preparing = "is preparing the cache";
    if (use == CacheUse::resolve) {
        // The format of metadata has never changed, and the other files may have other owners.
        return FileLock::take(ctx, path, LockMode::shared, preparing);
    }
    while (true) {
        std::optional<FileLock> lock = FileLock::try_take(path, LockMode::exclusive);
        if (!lock) {
            FileLock shared = FileLock::take(ctx, path, LockMode::shared, preparing);
            if (is_prepared(ctx.cache, image_owner)) {
                return shared;
            }
        }
        if (!lock) {
            lock = FileLock::take(ctx, path, LockMode::exclusive,
                                  "uses the cache with another edgegpu, or for another user");
        }
        prepare(ctx.cache, image_owner);
        lock->share();
        if (is_prepared(ctx.cache, image_owner)) {
            return *std::move(lock);
        }
    }
}

fs::path slot_name(CacheUse use, unsigned number) {
    return fs::path("work") / fmt::format("{}{}", use == CacheUse::build ? "" : "resolve-", number);
}

/// The first free slot.
std::pair<fs::path, FileLock> take_slot(const Context& ctx, CacheUse use) {
    close_to_others(ctx.cache);
    for (unsigned number = 0;; ++number) {
        fs::path slot = slot_name(use, number);
        if (std::optional<FileLock> lock =
                FileLock::try_take((ctx.cache / slot).concat(".lock"), LockMode::exclusive)) {
            return {std::move(slot), std::move(*lock)};
        }
    }
}

}  // namespace

bool is_leftover(std::string_view name) {
    if (name.starts_with(".new-")) {
        return true;
    }
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) {
        return false;
    }
    const std::string_view suffix = name.substr(dot + 1);
    return (!suffix.empty() && suffix.find_first_not_of("0123456789") == std::string_view::npos) ||
           (suffix.size() == 6 && std::ranges::all_of(suffix, is_alphanumeric));
}

std::optional<std::int64_t> first_use(const Context& ctx) {
    std::optional<std::int64_t> first;
    for (const fs::directory_entry& entry : children_of(ctx.cache / "work")) {
        struct stat status {};
        if (entry.path().extension() == ".lock" && ::lstat(entry.path().c_str(), &status) == 0 &&
            !FileLock::try_take(entry.path(), LockMode::shared)) {
            first = std::min<std::int64_t>(first.value_or(status.st_mtim.tv_sec),
                                           status.st_mtim.tv_sec);
        }
    }
    return first;
}

bool remove_slot(const Context& ctx, const fs::path& slot) {
    const auto lock = FileLock::try_take(fs::path(slot).concat(".lock"), LockMode::exclusive);
    if (!lock) {
        return false;
    }
    if (lock->was_abandoned()) {
        write_file(ctx.cache / killed_mark, "");
    }
    remove_tree(slot);
    return true;
}

CacheLock::CacheLock(const Context& ctx, CacheUse use, const std::string& image_owner)
    : cache_(share_cache(ctx, use, image_owner)), slot_(take_slot(ctx, use)) {
    // A prune that is running now does not know of this command yet.
    wait_for_removal(ctx);
    empty_slot(ctx.cache / slot());
    if (slot_.second.was_abandoned()) {
        write_file(ctx.cache / killed_mark, "");
    }
}

}  // namespace edgegpu
