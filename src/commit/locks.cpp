#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "commit/cancellable.hpp"
#include "commit/lock_wait.hpp"
#include "commit/repository.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Null if a reader cannot lock it: libostree would create the file.
OstreeRepo* lockable(const RepositoryView& repository) {
    OstreeRepo* repo = repository.handle();
    return ::faccessat(ostree_repo_get_dfd(repo), ".lock", R_OK | W_OK, AT_EACCESS) == 0 ? repo
                                                                                         : nullptr;
}

OstreeRepo* require_locking(const Repo::Impl& repo) {
    GKeyFile* config = ostree_repo_get_config(repo.ostree.get());
    if (g_key_file_has_key(config, "core", "locking", nullptr) != FALSE &&
        g_key_file_get_boolean(config, "core", "locking", nullptr) == FALSE) {
        throw error("{}: its config switches locks off (locking in [core])", repo.path.string())
            .hinted("whoever writes to it meanwhile would lose objects: remove that line");
    }
    return repo.ostree.get();
}

/// What Repo::whole has left of `wait`.
LockWait rest_of(const Repo::Impl& repo, const LockWait& wait) {
    const std::optional<std::chrono::seconds> limit = limit_of_wait(repo.ostree.get(), wait);
    return limit ? std::max(*limit - repo.waited, std::chrono::seconds(0)) : wait;
}

/// Who keeps a lock of this kind from being taken.
const char* hint_for(OstreeRepoLockType type) {
    return type == OSTREE_REPO_LOCK_SHARED
               ? "another program holds the lock, such as `edgegpu prune` or `ostree prune`: try "
                 "again when it has ended; how long is waited is --lock-wait, or lock-timeout-secs "
                 "in "
                 "the repository's config"
               : "a build, `edgegpu publish`, `promote` or `upload`, or another program is working "
                 "on the repository: try again when it has ended; how long is waited is "
                 "--lock-wait, "
                 "or lock-timeout-secs in the repository's config";
}

}  // namespace

RepositoryLock::RepositoryLock(const Context& ctx, OstreeRepo* repo, const std::string& shown,
                               OstreeRepoLockType type, const LockWait& wait)
    : repo_(repo), type_(type) {
    if (repo_ == nullptr) {
        return;
    }
    wait_until_unlocked(ctx, repo_, shown, type_, wait, hint_for(type_));
    const Cancellable cancellable(ctx);
    GlibFailure failure;
    if (ostree_repo_lock_push(repo_, type_, cancellable.get(), failure.out()) == FALSE) {
        ctx.check_cancelled();
        throw failure.to_error(shown, "cannot lock the repository").hinted(hint_for(type_));
    }
}

RepositoryLock::~RepositoryLock() {
    if (repo_ != nullptr) {
        ostree_repo_lock_pop(repo_, type_, nullptr, nullptr);
    }
}

SharedLock::SharedLock(const Context& ctx, const Repo::Impl& repo, const LockWait& wait)
    : RepositoryLock(ctx, repo.ostree.get(), repo.path.string(), OSTREE_REPO_LOCK_SHARED,
                     rest_of(repo, wait)) {}

SharedLock::SharedLock(const Context& ctx, const RepositoryView& repository, const LockWait& wait)
    : RepositoryLock(ctx, lockable(repository), repository.path(), OSTREE_REPO_LOCK_SHARED, wait) {}

ExclusiveLock::ExclusiveLock(const Context& ctx, const Repo::Impl& repo, const LockWait& wait)
    : RepositoryLock(ctx, require_locking(repo), repo.path.string(), OSTREE_REPO_LOCK_EXCLUSIVE,
                     rest_of(repo, wait)) {}

}  // namespace edgegpu
