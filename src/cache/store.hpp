#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/entry_lock.hpp"
#include "execution/context.hpp"
#include "log/console.hpp"

namespace edgegpu {

/// Results that later builds reuse, stored under a digest of everything that determines them: the
/// stage's inputs and the tools that made them. This program and its libraries are always among
/// these (program_identity): entries of other builds of the program are never found.
///
/// An entry is a directory, `<kind>/<key>-<program>` in the cache, with files and a `seal`: format,
/// kind, key, name, size and digest of each file, the messages shown while it was made, and a
/// digest of all that. It gets its name when it is complete. An entry that is damaged, truncated,
/// or that has a link in place of a file counts as absent: it is made again.

/// One kind of entry.
struct StoreKind {
    /// its directory below the cache
    std::string_view name;
    EntryKind lock;
};

/// An entry whose content matches its seal.
class StoredEntry {
public:
    StoredEntry(std::filesystem::path directory, std::map<std::string, std::string> files,
                std::vector<Remark> remarks)
        : directory_(std::move(directory)),
          files_(std::move(files)),
          remarks_(std::move(remarks)) {}

    /// Its directory, for what the seal does not cover (NewEntry::directory).
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// Name → content of the files that the seal covers.
    [[nodiscard]] const std::map<std::string, std::string>& files() const noexcept {
        return files_;
    }
    /// The content of one of them; null if there is no such file.
    [[nodiscard]] const std::string* find(const std::string& name) const;
    /// Shows again the messages that were shown while it was made.
    void repeat_remarks(Console* console) const;

private:
    std::filesystem::path directory_;
    std::map<std::string, std::string> files_;
    std::vector<Remark> remarks_;
};

/// The entry, and records its use; nothing if there is none that can be trusted.
[[nodiscard]] std::optional<StoredEntry> find_stored(const Context& ctx, const StoreKind& kind,
                                                     const std::string& key);

/// An entry that is being made, by the holder of its EntryLock; removed with the object unless it
/// was kept.
class NewEntry {
public:
    NewEntry(const Context& ctx, const StoreKind& kind, std::string key);
    NewEntry(const NewEntry&) = delete;
    NewEntry& operator=(const NewEntry&) = delete;
    ~NewEntry();

    /// Adds a file; `name` is one component and not "seal". Throws Error naming the path.
    void add(const std::string& name, std::string_view content);
    /// For further files that the seal does not cover: their reader has to check that they are
    /// unchanged.
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return temporary_; }
    /// Marks the result as one that must not be kept.
    void forget() noexcept { forgotten_ = true; }
    /// Seals it and gives it its name, unless forgotten; replaces an earlier entry.
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

/// The value of an entry: what `read(StoredEntry)` returns for the one in the cache (an optional;
/// nothing if the entry is unusable after all), or else what `make(NewEntry&)` returns and adds to
/// the new one. Concurrent builds make it once; `what` says what the one that makes it is doing,
/// for those that wait: "is running depmod on the same modules".
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
