#include "publish/publish.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "support/error.hpp"
#include "support/text/quantity.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// A ref that is being published.
struct Release {
    CommitView commit;
    /// holds the lock of the target's ref
    Repo target;
    /// what devices that follow the ref have; nothing for a new ref
    std::optional<CommitView> head;
};

void require_ref(const RepositoryView& source, const std::string& ref) {
    const std::map<std::string, std::string> refs = source.refs();
    if (refs.contains(ref)) {
        return;
    }
    std::vector<std::string> names;
    for (const auto& [name, checksum] : refs) {
        names.push_back(name);
    }
    throw error(ErrorKind::usage, "{}: there is no ref {}", source.path(), ref)
        .hinted(names.empty() ? "the repository has no refs: build a blueprint into it"
                              : fmt::format("its refs are {}", fmt::join(names, ", ")));
}

/// Clients take a commit for no other ref than those that it names.
void require_bound(const CommitView& commit, const std::string& ref) {
    const std::vector<std::string>& bound = commit.info().bound_refs;
    if (!bound.empty() && std::ranges::find(bound, ref) == bound.end()) {
        throw error("commit {} was made for {}: devices that follow {} refuse it",
                    commit.info().checksum, fmt::join(bound, ", "), ref)
            .hinted("build it with that ref in [ostree]");
    }
}

/// rpm-ostree refuses what is older than the system that runs.
void require_later(const CommitView& commit, const CommitView& head, const std::string& ref) {
    if (commit.info().time < head.info().time) {
        throw error(
            "commit {} of ref {} is older than {}, which is published: devices refuse it as a "
            "downgrade",
            commit.info().checksum, ref, head.info().checksum)
            .hinted(
                "build it again, into the repository that has the newer one: the commit is then "
                "later than that");
    }
}

/// `image` is the one that devices run when they verify the commit. Where it names no keys, they
/// have others, of which nothing is known.
void require_verifiable(const Context& ctx, const CommitView& commit, const CommitView& image) {
    const bool is_signed = !signatures_of(commit.detached_metadata().get()).empty();
    for (const RemoteConfig& remote : verifying_remotes(image)) {
        if (!remote.key_paths.empty() || !is_signed) {
            check_commit_signature(ctx, commit, image, remote.name, {});
        }
    }
}

/// Clients with gpg-verify-summary refuse a summary without a signature.
void require_summary_key(const fs::path& target, const Signer& signer) {
    const fs::path signature = target / "summary.sig";
    struct stat status {};
    if (!signer.signs_commits() && ::lstat(signature.c_str(), &status) == 0) {
        throw error(ErrorKind::usage, "{}: its summary is signed, and would not be any more",
                    target.string())
            .hinted(fmt::format("name the key with --sign; for a repository whose summary nobody "
                                "verifies, remove the signature: rm {}",
                                shell_word(signature.string())));
    }
}

std::vector<Release> open_releases(const Context& ctx, const RepositoryView& source,
                                   const PublishRequest& request) {
    std::vector<CommitView> commits;
    for (const std::string& ref : request.refs) {
        require_ref(source, ref);
        commits.push_back(source.open(ref));
        require_bound(commits.back(), ref);
    }
    std::vector<Release> releases;
    for (CommitView& commit : commits) {
        const std::string ref = commit.info().name;
        Release release{std::move(commit), Repo(ctx, request.target, ref), std::nullopt};
        const Repo::Impl& target = release.target.impl();
        if (!target.ref_at_start.empty()) {
            release.head = target.view().commit_at(target.ref_at_start, ref);
            require_later(release.commit, *release.head, ref);
        }
        require_verifiable(ctx, release.commit, release.head ? *release.head : release.commit);
        releases.push_back(std::move(release));
    }
    return releases;
}

/// Whether there is none, or none that is signed as asked for, or it does not have the ref's commit
/// yet.
bool owes_summary(const Repo::Impl& target, const Signer& signer) {
    const auto has = [](const Fd& directory, const std::string& name) {
        return ::faccessat(directory.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    };
    return has(target.open_directory(locks_directory), target.summary_marker()) ||
           !has(target.directory, "summary") ||
           (signer.signs_commits() && !has(target.directory, "summary.sig"));
}

/// Copies what is missing. Clients see nothing of it.
PublishedRef copy(const Context& ctx, const RepositoryView& source, const Release& release,
                  const Signer& signer) {
    PublishedRef published;
    published.ref = release.target.impl().ref;
    published.commit = release.commit.info();
    published.before = release.head ? release.head->info().checksum : std::string();
    published.copied = copy_commit(ctx, source, release.commit, release.target);
    const bool signatures = copy_signatures(release.commit, release.target);
    published.is_signed = !signatures_of(release.commit.detached_metadata().get()).empty();
    published.unchanged = published.before == published.commit.checksum && !signatures &&
                          !owes_summary(release.target.impl(), signer);
    return published;
}

/// What clients that ask the summary get.
void finish_summary(const Context& ctx, const std::vector<Release>& releases, Signer& signer) {
    try {
        update_summary(ctx, releases.back().target.impl(), signer);
    } catch (Error& failure) {
        failure.traced(
            "the refs are set, the summary is not: clients that ask it still get what it "
            "had. Another run makes it");
        throw;
    }
    for (const Release& release : releases) {
        forget_summary_marker(release.target.impl());
    }
}

}  // namespace

std::vector<PublishedRef> publish(const Context& ctx, Stages& stages, const RepositoryView& source,
                                  const PublishRequest& request, Signer& signer) {
    stages.begin_quietly("check", "checking");
    require_summary_key(request.target, signer);
    const std::vector<Release> releases = open_releases(ctx, source, request);
    stages.end("");

    stages.begin("copy", "copying the objects of");
    std::vector<PublishedRef> published;
    CopiedObjects all;
    for (const Release& release : releases) {
        published.push_back(copy(ctx, source, release, signer));
        all.count += published.back().copied.count;
        all.bytes += published.back().copied.bytes;
    }
    stages.end(fmt::format("{} new objects, {}", all.count, human_size(all.bytes)));

    ctx.check_cancelled();
    if (std::ranges::all_of(published, &PublishedRef::unchanged)) {
        return published;
    }
    stages.begin("publish", "setting the refs of");
    for (const Release& release : releases) {
        set_ref(release.target.impl(), release.commit.info().checksum);
    }
    finish_summary(ctx, releases, signer);
    stages.end(fmt::format("{}", fmt::join(request.refs, ", ")));
    return published;
}

}  // namespace edgegpu
