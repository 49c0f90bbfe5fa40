#include "publish/publish.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>

#include "commit/commit.hpp"
#include "commit/head.hpp"
#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "publish/signed_summary.hpp"
#include "signing/signing_keys.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/quantity.hpp"

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
    /// what the target has that deltas are to be made from
    std::vector<CommitView> delta_sources;
};

void require_ref(const RepositoryView& source, const std::string& ref) {
    const std::map<std::string, std::string> refs = source.refs();
    if (refs.contains(ref)) {
        return;
    }
    std::vector<std::string> names;
    names.reserve(refs.size());
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
void require_verifiable(const Context& ctx, const CommitView& commit, const CommitView& image,
                        bool published, Signer& signer) {
    const bool is_signed = !signatures_of(commit.detached_metadata().get()).empty();
    for (const RemoteConfig& remote : remotes_of(image)) {
        if (remote.verifies && !published && (!remote.key_paths.empty() || !is_signed)) {
            check_commit_signature(ctx, commit, image, remote.name, {});
        }
    }
    require_verifiable_summary(ctx, image, signer);
}

/// Devices get nothing of what another repository has.
void require_own_objects(const Repo::Impl& target) {
    if (ostree_repo_get_parent(target.ostree.get()) != nullptr) {
        throw error("{}: has a parent repository (parent in its config), which clients do not see",
                    target.path.string())
            .hinted("publish to a repository of its own");
    }
}

Release open_release(const Context& ctx, CommitView commit, const PublishRequest& request,
                     Signer& signer) {
    const std::string ref = commit.info().name;
    Release release{std::move(commit), Repo(ctx, request.target, ref), std::nullopt, {}};
    const Repo::Impl& target = release.target.impl();
    require_own_objects(target);
    release.head = read_head(target);
    if (release.head) {
        require_later(release.commit, *release.head, ref);
    }
    // What is published already may have been signed with another image's key.
    const bool published =
        release.head && release.head->info().checksum == release.commit.info().checksum;
    require_verifiable(ctx, release.commit, release.head ? *release.head : release.commit,
                       published, signer);
    return release;
}

std::vector<Release> open_releases(const Context& ctx, const RepositoryView& source,
                                   const PublishRequest& request, Signer& signer) {
    std::vector<CommitView> commits;
    for (const std::string& ref : request.refs) {
        require_ref(source, ref);
        commits.push_back(source.open(ref));
        require_bound(commits.back(), ref);
    }
    std::vector<Release> releases;
    releases.reserve(commits.size());
    for (CommitView& commit : commits) {
        releases.push_back(open_release(ctx, std::move(commit), request, signer));
    }
    return releases;
}

/// Whether some summary was begun, or the one that is there has another commit for the ref.
bool owes_summary(const Repo::Impl& target, const std::string& checksum) {
    const auto locks = names_in(target.open_directory(locks_directory));
    return !locks || std::ranges::any_of(*locks, [](const std::string& name) {
        return name.ends_with(".summary");
    }) || commit_in_summary(content_of(target, "summary"), target.ref) != checksum;
}

/// Whether the summary has no signature by the key that is asked for.
bool owes_signature(const Repo::Impl& target, Signer& signer) {
    if (!signer.signs_commits()) {
        return false;
    }
    const std::string text = content_of(target, "summary.sig");
    const Handle<GBytes, g_bytes_unref> bytes(g_bytes_new(text.data(), text.size()));
    const VariantHandle metadata =
        own(g_variant_new_from_bytes(G_VARIANT_TYPE("a{sv}"), bytes.get(), FALSE));
    if (g_variant_is_normal_form(metadata.get()) == FALSE) {
        return true;
    }
    const std::string issuer = issuer_of(signer.sign_trial().signature);
    return std::ranges::none_of(signatures_of(metadata.get()), [&](const std::string& signature) {
        return issuer_of(signature) == issuer;
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
    published.is_signed = !signatures_of(release.commit.detached_metadata().get()).empty();
    published.unchanged = published.before == published.commit.checksum && !metadata;
    return published;
}

/// Behind the signatures, which deltas have in them, and before the refs: clients ask for a delta
/// as soon as they see a new commit.
void add_deltas(const Context& ctx, Stages& stages, const PublishRequest& request,
                const std::vector<Release>& releases, std::vector<PublishedRef>& published) {
    const bool shown = std::ranges::any_of(
        releases, [](const Release& release) { return !release.delta_sources.empty(); });
    shown ? stages.begin("delta", "making deltas of")
          : stages.begin_quietly("delta", "keeping the deltas of");
    std::uint64_t bytes = 0;
    std::size_t made = 0;
    for (std::size_t i = 0; i < releases.size(); ++i) {
        published[i].deltas = publish_deltas(ctx, releases[i].target, published[i].commit.checksum,
                                             releases[i].delta_sources, request.largest_compared);
        for (const PublishedDelta& delta : published[i].deltas) {
            made += delta.made ? 1 : 0;
            bytes += delta.made ? delta.delta.bytes : 0;
            published[i].unchanged = published[i].unchanged && !delta.made && !delta.renewed;
        }
    }
    stages.end(fmt::format("{} new deltas, {}", made, human_size(bytes)));
}

/// Sets all refs, and the summary, from which clients that ask it learn of them.
///
/// Deltas that have old signatures get the new ones: at no time does a client find one that is not
/// as the last summary says, since that is made without them before they are written.
void set_refs(const Context& ctx, const std::vector<Release>& releases,
              const std::vector<PublishedRef>& published, Signer& signer) {
    std::vector<std::string> done;
    std::string_view missing =
        "the summary is not, and clients that ask it still get what it had. Another run goes on";
    try {
        bool outdated = false;
        for (std::size_t i = 0; i < releases.size(); ++i) {
            outdated |= withdraw_outdated(releases[i].target, published[i].commit.checksum,
                                          published[i].deltas);
        }
        for (const Release& release : releases) {
            set_ref(release.target.impl(), release.commit.info().checksum);
            done.push_back(release.target.impl().ref);
        }
        update_summary(ctx, releases.back().target.impl(), signer);
        if (outdated) {
            missing =
                "some deltas are not there, and clients get objects. Another run with "
                "--delta-from makes them";
            for (std::size_t i = 0; i < releases.size(); ++i) {
                write_renewed(releases[i].target, published[i].commit.checksum,
                              published[i].deltas);
            }
            update_summary(ctx, releases.back().target.impl(), signer);
        }
    } catch (Error& failure) {
        if (!done.empty()) {
            failure.traced(fmt::format("set are: {}; {}", fmt::join(done, ", "), missing));
        }
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
    require_signed_summary(request.target, signer);
    std::vector<Release> releases = open_releases(ctx, source, request, signer);
    // Until the refs reach what is copied; nothing that deltas are made from is pruned meanwhile.
    const SharedLock lock(ctx, releases.front().target.impl());
    for (Release& release : releases) {
        release.delta_sources =
            delta_sources(release.target, request.delta_from, release.commit.info().checksum);
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
    stages.end(fmt::format("{} new objects, {}", all.count, human_size(all.bytes)));
    add_deltas(ctx, stages, request, releases, published);

    ctx.check_cancelled();
    for (std::size_t i = 0; i < releases.size(); ++i) {
        const Repo::Impl& target = releases[i].target.impl();
        published[i].unchanged = published[i].unchanged &&
                                 !owes_summary(target, published[i].commit.checksum) &&
                                 !owes_signature(target, signer);
    }
    if (std::ranges::all_of(published, &PublishedRef::unchanged)) {
        return published;
    }
    stages.begin("publish", "setting the refs of");
    set_refs(ctx, releases, published, signer);
    stages.end(fmt::format("{}", fmt::join(request.refs, ", ")));
    return published;
}

}  // namespace edgegpu
