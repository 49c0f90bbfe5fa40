#include "cache/entry_lock.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

std::string_view name_of_kind(EntryKind kind) {
    return nth_name(
        kind, {"parent", "kmods", "policy", "modules", "composed", "initramfs", "depmod", "bundle",
               "repository", "package", "import", "image", "deflate"});
}

std::filesystem::path lock_file(const Context& ctx, EntryKind kind, std::string_view key) {
    return ctx.cache / "locks" / fmt::format("{}-{}", name_of_kind(kind), key);
}

}  // namespace

EntryLock::EntryLock(const Context& ctx, EntryKind kind, std::string_view key,
                     std::string_view what)
    : lock_(FileLock::take(ctx, lock_file(ctx, kind, key), LockMode::exclusive, what,
                           LockFile::removed)) {}

std::optional<EntryLock> EntryLock::try_take(const Context& ctx, EntryKind kind,
                                             std::string_view key) {
    std::optional<FileLock> lock =
        FileLock::try_take(lock_file(ctx, kind, key), LockMode::exclusive, LockFile::removed);
    if (!lock) {
        return std::nullopt;
    }
    return EntryLock(std::move(*lock));
}

}  // namespace edgegpu
