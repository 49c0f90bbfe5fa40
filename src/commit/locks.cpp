#include <cerrno>
#include <string>

#include <unistd.h>

#include "commit/cancellable.hpp"
#include "commit/repository.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

void lock_ostree(const Context& ctx, OstreeRepo* repo, OstreeRepoLockType type,
                 const std::string& path, const char* hint) {
    const Cancellable cancellable(ctx);
    GlibFailure failure;
    if (ostree_repo_lock_push(repo, type, cancellable.get(), failure.out()) == FALSE) {
        ctx.check_cancelled();
        throw failure.to_error(path, "cannot lock the repository").hinted(hint);
    }
}

constexpr const char* shared_hint =
    "another program holds the lock, such as `edgegpu prune` or `ostree prune`: try again when it "
    "has ended; how long is waited is lock-timeout-secs in the repository's config";

}  // namespace

SharedLock::SharedLock(const Context& ctx, const Repo::Impl& repo) : repo_(repo.ostree.get()) {
    lock_ostree(ctx, repo_, OSTREE_REPO_LOCK_SHARED, repo.path.string(), shared_hint);
}

SharedLock::SharedLock(const Context& ctx, const RepositoryView& repository)
    : repo_(repository.handle()) {
    // libostree would create it.
    if (::faccessat(ostree_repo_get_dfd(repo_), ".lock", R_OK | W_OK, AT_EACCESS) != 0) {
        repo_ = nullptr;
        return;
    }
    lock_ostree(ctx, repo_, OSTREE_REPO_LOCK_SHARED, repository.path(), shared_hint);
}

SharedLock::~SharedLock() {
    if (repo_ != nullptr) {
        ostree_repo_lock_pop(repo_, OSTREE_REPO_LOCK_SHARED, nullptr, nullptr);
    }
}

ExclusiveLock::ExclusiveLock(const Context& ctx, const Repo::Impl& repo)
    : repo_(repo.ostree.get()) {
    GKeyFile* config = ostree_repo_get_config(repo_);
    if (g_key_file_has_key(config, "core", "locking", nullptr) != FALSE &&
        g_key_file_get_boolean(config, "core", "locking", nullptr) == FALSE) {
        throw error("{}: its config switches locks off (locking in [core])", repo.path.string())
            .hinted("whoever writes to it meanwhile would lose objects: remove that line");
    }
    lock_ostree(ctx, repo_, OSTREE_REPO_LOCK_EXCLUSIVE, repo.path.string(),
                "a build, `edgegpu publish` or another program is working on the repository: try "
                "again when it has ended; how long is waited is lock-timeout-secs in the "
                "repository's config");
}

ExclusiveLock::~ExclusiveLock() {
    ostree_repo_lock_pop(repo_, OSTREE_REPO_LOCK_EXCLUSIVE, nullptr, nullptr);
}

}  // namespace edgegpu
