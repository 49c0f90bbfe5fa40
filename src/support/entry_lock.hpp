#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "support/context.hpp"
#include "support/file_lock.hpp"

namespace edgegpu {

/// What builds that share a cache make once for all, in the order in which locks are taken: who
/// holds one waits only for kinds further down, so that no two builds wait for each other. From
/// `composed` on, who holds one waits for no other.
enum class EntryKind {
    /// compiled kernel modules: needs packages and imports
    kmods,
    /// the policy transaction: may need policy modules
    policy,
    /// compiled policy modules: needs packages and imports
    modules,
    composed,
    initramfs,
    depmod,
    repository,
    package,
    import,
    deflate
};

/// The right to make one entry of the cache. It is taken after the entry was looked for and not
/// found, held only while the entry is made, and the entry is looked for once more when it is had:
/// somebody else may have made it meanwhile.
class EntryLock {
public:
    /// Waits until nobody else has it, as FileLock::take does; `what` says what its holder does:
    /// "is unpacking package bash-5.2-1.x86_64". `key` is a plain name: a digest, for example.
    EntryLock(const Context& ctx, EntryKind kind, std::string_view key, std::string_view what);
    /// The same without waiting: nothing where somebody else has it.
    [[nodiscard]] static std::optional<EntryLock> try_take(const Context& ctx, EntryKind kind,
                                                           std::string_view key);

private:
    explicit EntryLock(FileLock lock) : lock_(std::move(lock)) {}

    FileLock lock_;
};

}  // namespace edgegpu
