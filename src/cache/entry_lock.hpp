#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "cache/file_lock.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// What builds that share a cache make only once, in the order in which locks are taken: the holder
/// of one waits only for kinds further down, so that no two builds wait for each other. From
/// `composed` on, the holder waits for no other lock.
enum class EntryKind {
    /// the commit of a container image that is a parent
    parent,
    /// compiled kernel modules: needs packages and imports
    kmods,
    /// the policy transaction: may need policy modules
    policy,
    /// compiled policy modules: needs packages and imports
    modules,
    composed,
    initramfs,
    depmod,
    /// rendered bundles
    bundle,
    repository,
    package,
    import,
    /// layers of container images, and images made of them
    image,
    deflate
};

/// The right to make one entry of the cache. Take it after looking for the entry in vain, look
/// again once it is held, because another build may have made the entry meanwhile, and hold it only
/// while making the entry.
class EntryLock {
public:
    /// Waits until nobody else holds it, as FileLock::take does; `what` says what a holder does:
    /// "is unpacking package bash-5.2-1.x86_64". `key` is a plain name: a digest, for example.
    EntryLock(const Context& ctx, EntryKind kind, std::string_view key, std::string_view what);
    /// The same without waiting: nothing if somebody else holds it.
    [[nodiscard]] static std::optional<EntryLock> try_take(const Context& ctx, EntryKind kind,
                                                           std::string_view key);

private:
    explicit EntryLock(FileLock lock) : lock_(std::move(lock)) {}

    FileLock lock_;
};

}  // namespace edgegpu
