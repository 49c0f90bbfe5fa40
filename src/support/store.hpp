#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/console.hpp"
#include "support/context.hpp"
#include "support/entry_lock.hpp"

namespace edgegpu {

/// Results that later builds use again, found by a digest of everything that decides them: the
/// stage's inputs, the versions of the tools that made them.
///
/// An entry is a directory, `<kind>/<key>` in the cache, with files and a `seal`: format, kind and
/// its version, key, name, size and digest of each file, what was said when it was made, and a
/// digest of all that. It appears under its name when it is complete. One that is damaged, cut off,
/// of another version, or that has a link in a file's place is as good as none: it is made again.

/// A kind of entries.
struct StoreKind {
    /// its directory below the cache
    std::string_view name;
    /// Raise it whenever the same key comes to mean another value.
    unsigned version;
    EntryKind lock;
};

/// An entry that is as it was sealed.
class StoredEntry {
public:
    StoredEntry(std::filesystem::path directory, std::map<std::string, std::string> files,
                std::vector<Remark> remarks)
        : directory_(std::move(directory)),
          files_(std::move(files)),
          remarks_(std::move(remarks)) {}

    /// Where it lies: for what the seal does not cover (NewEntry::directory).
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// Name → content, of what the seal covers.
    [[nodiscard]] const std::map<std::string, std::string>& files() const noexcept {
        return files_;
    }
    /// The content of one; null where there is none.
    [[nodiscard]] const std::string* find(const std::string& name) const;
    /// Says again what was said when it was made.
    void repeat_remarks(Console* console) const;

private:
    std::filesystem::path directory_;
    std::map<std::string, std::string> files_;
    std::vector<Remark> remarks_;
};

/// The entry, whose use is recorded; nothing where there is none that can be trusted.
[[nodiscard]] std::optional<StoredEntry> find_stored(const Context& ctx, const StoreKind& kind,
                                                     const std::string& key);

/// The keys of all entries of the kind that begin with `prefix`, sorted; some may not be found.
[[nodiscard]] std::vector<std::string> stored_keys(const Context& ctx, const StoreKind& kind,
                                                   std::string_view prefix);

/// An entry on its way into the cache. Made by who holds its EntryLock; gone with the value unless
/// it was kept.
class NewEntry {
public:
    NewEntry(const Context& ctx, const StoreKind& kind, std::string key);
    NewEntry(const NewEntry&) = delete;
    NewEntry& operator=(const NewEntry&) = delete;
    ~NewEntry();

    /// Adds a file; `name` is one component and not "seal". Throws Error naming the path.
    void add(const std::string& name, std::string_view content);
    /// Where its maker may put more, which the seal does not cover: who reads it has to check that
    /// it is what it was.
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return temporary_; }
    /// The result turned out to be none that can be kept.
    void forget() noexcept { forgotten_ = true; }
    /// Seals it and gives it its name, unless it was forgotten; what was there is replaced.
    void keep(const std::vector<Remark>& remarks);

private:
    const Context& ctx_;
    StoreKind kind_;
    std::string key_;
    std::filesystem::path place_;
    std::filesystem::path temporary_;
    /// name → size and digest
    std::map<std::string, std::pair<std::size_t, std::string>> files_;
    bool forgotten_ = false;
};

/// The value of an entry: what `read(StoredEntry)` makes of the one in the cache (an optional:
/// nothing, where it is not one after all), or else what `make(NewEntry&)` makes and adds to the
/// new one. Builds that want the same make it once; `what` says what its maker does: "is running
/// depmod on the same modules".
template <typename Read, typename Make>
auto find_or_make(const Context& ctx, const StoreKind& kind, const std::string& key,
                  std::string_view what, const Read& read, const Make& make) {
    const auto attempt = [&]() -> decltype(read(std::declval<const StoredEntry&>())) {
        const std::optional<StoredEntry> entry = find_stored(ctx, kind, key);
        if (!entry) {
            return std::nullopt;
        }
        auto value = read(*entry);
        if (value) {
            entry->repeat_remarks(ctx.console);
        }
        return value;
    };
    if (auto value = attempt()) {
        return *std::move(value);
    }
    const EntryLock lock(ctx, kind.lock, key, what);
    if (auto value = attempt()) {
        return *std::move(value);
    }
    NewEntry entry(ctx, kind, key);
    Recording recording(ctx.console);
    auto value = make(entry);
    entry.keep(recording.remarks());
    return value;
}

}  // namespace edgegpu
