#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/object.hpp"
#include "commit/repository.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

const char* homedir_of(const Blueprint& blueprint) {
    return blueprint.ostree.gpg_homedir.empty() ? nullptr : blueprint.ostree.gpg_homedir.c_str();
}

Error signing_error(const Repo::Impl& repo, const Blueprint& blueprint,
                    const GlibFailure& failure) {
    return failure
        .to_error(repo.path.string(),
                  fmt::format("cannot sign with GPG key {}", blueprint.ostree.sign))
        .hinted(fmt::format("the secret key must be in {} and need no passphrase",
                            blueprint.ostree.gpg_homedir.empty()
                                ? "the user's GPG home"
                                : blueprint.ostree.gpg_homedir.string()));
}

bool has_signature(const Repo::Impl& repo, const std::string& checksum) {
    GlibFailure failure;
    GVariant* found = nullptr;
    if (ostree_repo_read_commit_detached_metadata(repo.ostree.get(), checksum.c_str(), &found,
                                                  nullptr, failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot read detached metadata");
    }
    const VariantHandle detached(found);
    return detached && VariantHandle(g_variant_lookup_value(detached.get(), "ostree.gpgsigs",
                                                            nullptr)) != nullptr;
}

}  // namespace

void sign_commit(const Repo::Impl& repo, const Blueprint& blueprint, const std::string& checksum,
                 GVariant* detached) {
    GlibFailure failure;
    // A signature comes after the rest of the detached metadata, so where one is, all is.
    if (!has_signature(repo, checksum) &&
        ostree_repo_write_commit_detached_metadata(repo.ostree.get(), checksum.c_str(), detached,
                                                   nullptr, failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot write detached metadata");
    }
    if (!blueprint.ostree.sign.empty() &&
        ostree_repo_sign_commit(repo.ostree.get(), checksum.c_str(), blueprint.ostree.sign.c_str(),
                                homedir_of(blueprint), nullptr, failure.out()) == FALSE &&
        !failure.is(G_IO_ERROR_EXISTS)) {
        throw signing_error(repo, blueprint, failure);
    }
    make_readable(repo, repo.path / "objects" / object_path(checksum, "commitmeta"));
}

void update_summary(const Repo::Impl& repo, const Blueprint& blueprint) {
    const std::filesystem::path lock_path = repo.summary_marker().parent_path() / "summary.lock";
    const Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
        throw write_error(repo.path.string(), lock_path.string(), errno);
    }
    GlibFailure failure;
    if (ostree_repo_regenerate_summary(repo.ostree.get(), nullptr, nullptr, failure.out()) ==
        FALSE) {
        throw failure.to_error(repo.path.string(), "cannot write the summary");
    }
    if (!blueprint.ostree.sign.empty()) {
        const char* keys[] = {blueprint.ostree.sign.c_str(), nullptr};
        if (ostree_repo_add_gpg_signature_summary(repo.ostree.get(), keys, homedir_of(blueprint),
                                                  nullptr, failure.out()) == FALSE) {
            throw signing_error(repo, blueprint, failure);
        }
        make_readable(repo, repo.path / "summary.sig");
    }
    make_readable(repo, repo.path / "summary");
    ::unlink(repo.summary_marker().c_str());
}

}  // namespace edgegpu
