#include "publish/publish.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "commit/commit.hpp"
#include "commit/head.hpp"
#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "publish/copy.hpp"
#include "publish/deltas.hpp"
#include "publish/fsck.hpp"
#include "publish/promotion.hpp"
#include "publish/rollout.hpp"
#include "publish/verification.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// rpm-ostree refuses what is older than the system that runs.
void require_later(const CommitView& commit, const CommitView& head, const std::string& ref) {
    if (commit.info().time < head.info().time) {
        throw error(
            "commit {} of ref {} is older than {}, which is published: devices refuse it as a "
            "downgrade",
            commit.info().checksum, ref, head.info().checksum)
            .hinted(
                "promote it, or build it again into the repository that has the newer one: the new "
                "commit is later than that");
    }
}

/// Of a channel that is promoted to, the history is in the parents of its commits.
void warn_of_history(const Context& ctx, const RepositoryView& source, const CommitView& commit,
                     const CommitView& head, const std::string& ref) {
    if (!read_channel_record(head).promotion) {
        return;
    }
    std::set<std::string> seen;
    for (std::string next = commit.info().checksum; !next.empty() && seen.insert(next).second;) {
        if (next == head.info().checksum) {
            return;
        }
        try {
            next = source.commit_at(next, next).info().parent;
        } catch (const Error&) {
            break;  // as far as the source has it
        }
    }
    ctx.console->warn(fmt::format(
        "{} has been promoted to, and commit {} does not come after what it has: `edgegpu "
        "channels` "
        "will not show what it had before, and prune removes that. Devices of a channel get a "
        "version with edgegpu promote",
        ref, commit.info().checksum));
}

Release open_release(const Context& ctx, const RepositoryView& source, CommitView commit,
                     const PublishRequest& request, Signer& signer) {
    const std::string ref = commit.info().name;
    Release release{std::move(commit), Repo(ctx, request.target, ref), std::nullopt, {}};
    const Repo::Impl& target = release.target.impl();
    target.view().require_own_objects();
    release.head = read_head(target);
    if (release.head) {
        require_later(release.commit, *release.head, ref);
        warn_of_history(ctx, source, release.commit, *release.head, ref);
    }
    const CommitView& image = release.head ? *release.head : release.commit;
    // What is published already may have been signed with another image's key.
    if (!release.head || release.head->info().checksum != release.commit.info().checksum) {
        require_acceptable(ctx, release.commit, image);
    }
    require_summary_key(ctx, image, signer);
    return release;
}

std::vector<Release> open_releases(const Context& ctx, const RepositoryView& source,
                                   const PublishRequest& request, Signer& signer) {
    std::vector<CommitView> commits;
    for (const std::string& ref : request.refs) {
        require_no_plan_ref(ref);
        static_cast<void>(commit_of_ref(source, ref));
        commits.push_back(source.open(ref));
        require_bound(commits.back(), ref);
        require_deployable(commits.back().info());
    }
    return mapped(commits, [&](CommitView& commit) {
        return open_release(ctx, source, std::move(commit), request, signer);
    });
}

/// Copies what is missing. Clients do not ask for it yet.
PublishedRef copy(const Context& ctx, const RepositoryView& source, const Release& release) {
    PublishedRef published;
    published.ref = release.target.impl().ref;
    published.commit = release.commit.info();
    published.before = release.head ? release.head->info().checksum : std::string();
    published.copied = copy_commit(ctx, source, release.commit, release.target);
    const bool metadata = copy_detached_metadata(release.commit, release.target);
    published.is_signed = is_signed(release.commit);
    published.unchanged = published.before == published.commit.checksum && !metadata;
    return published;
}

}  // namespace

std::vector<PublishedRef> publish(const Context& ctx, Stages& stages, const RepositoryView& source,
                                  const PublishRequest& request, Signer& signer) {
    stages.begin_quietly("check", "checking");
    require_signed_summary(request.target, signer);
    std::vector<Release> releases = open_releases(ctx, source, request, signer);
    // Until the refs reach what is copied; nothing that deltas are made from is pruned meanwhile.
    const SharedLock lock(ctx, releases.front().target.impl(), request.lock_wait);
    for (Release& release : releases) {
        release.delta_sources =
            delta_sources(ctx, release.target, request.deltas, release.commit.info().checksum);
    }
    stages.end("");

    stages.begin("copy", "copying the objects of");
    std::vector<PublishedRef> published;
    CopiedObjects all;
    for (const Release& release : releases) {
        published.push_back(copy(ctx, source, release));
        all.count += published.back().copied.count;
        all.bytes += published.back().copied.bytes;
    }
    warn_of_unreadable(ctx, request.target, false);
    stages.end(fmt::format("{} new objects, {}", all.count, human_size(all.bytes)));
    finish_releases(ctx, stages, releases, published, request.deltas.largest_compared, signer);
    return published;
}

}  // namespace edgegpu
