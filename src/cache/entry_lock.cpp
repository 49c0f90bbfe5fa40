#include "cache/entry_lock.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace edgegpu {

namespace {

std::string_view name_of_kind(EntryKind kind) {
    switch (kind) {
        case EntryKind::parent:
            return "parent";
        case EntryKind::kmods:
            return "kmods";
        case EntryKind::policy:
            return "policy";
        case EntryKind::modules:
            return "modules";
        case EntryKind::composed:
            return "composed";
        case EntryKind::initramfs:
            return "initramfs";
        case EntryKind::depmod:
            return "depmod";
        case EntryKind::bundle:
            return "bundle";
        case EntryKind::repository:
            return "repository";
        case EntryKind::package:
            return "package";
        case EntryKind::import:
            return "import";
        case EntryKind::image:
            return "image";
        case EntryKind::deflate:
            break;
    }
    return "deflate";
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
