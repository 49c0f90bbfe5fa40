#include "publish/release.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "commit/repository.hpp"
#include "publish/summary_view.hpp"
#include "publish/verification.hpp"
#include "signing/signing_keys.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/glib.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Whether some summary was begun, or the one that is there is not that of the refs and deltas:
/// of any, since other programs may have changed them, and clients go by it.
bool owes_summary(const Repo::Impl& target) {
    const auto locks = names_in(target.open_directory(locks_directory));
    const SummaryView summary = read_summary(target.view());
    return !locks ||
           std::ranges::any_of(
               *locks, [](const std::string& name) { return name.ends_with(".summary"); }) ||
           !summary.readable || !differing_refs(target.view(), summary).empty() ||
           !differing_deltas(target.view(), summary.deltas).empty();
}

/// Whether the summary has no signature by the key that is asked for.
bool owes_signature(const Repo::Impl& target, Signer& signer) {
    if (!signer.signs_commits()) {
        return false;
    }
    const VariantHandle metadata =
        variant_from(G_VARIANT_TYPE("a{sv}"), content_of(target, "summary.sig"));
    return !metadata || lacks_signature(metadata.get(), content_of(target, "summary"), signer);
}

/// Behind the signatures, which deltas have in them, and before the refs: clients ask for a delta
/// as soon as they see a new commit.
void add_deltas(const Context& ctx, Stages& stages, const std::vector<Release>& releases,
                std::vector<PublishedRef>& published, std::uint64_t largest_compared) {
    const bool shown = std::ranges::any_of(
        releases, [](const Release& release) { return !release.delta_sources.empty(); });
    shown ? stages.begin("delta", "making deltas of")
          : stages.begin_quietly("delta", "keeping the deltas of");
    std::uint64_t bytes = 0;
    std::size_t made = 0;
    for (std::size_t i = 0; i < releases.size(); ++i) {
        published[i].deltas = publish_deltas(ctx, releases[i].target, published[i].commit.checksum,
                                             releases[i].delta_sources, largest_compared);
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

void finish_releases(const Context& ctx, Stages& stages, const std::vector<Release>& releases,
                     std::vector<PublishedRef>& published, std::uint64_t largest_compared,
                     Signer& signer) {
    add_deltas(ctx, stages, releases, published, largest_compared);
    ctx.check_cancelled();
    std::vector<std::string> refs;
    for (std::size_t i = 0; i < releases.size(); ++i) {
        const Repo::Impl& target = releases[i].target.impl();
        published[i].unchanged =
            published[i].unchanged && !owes_summary(target) && !owes_signature(target, signer);
        refs.push_back(target.ref);
    }
    if (std::ranges::all_of(published, &PublishedRef::unchanged)) {
        return;
    }
    stages.begin("publish", "setting the refs of");
    set_refs(ctx, releases, published, signer);
    stages.end(fmt::format("{}", fmt::join(refs, ", ")));
}

}  // namespace edgegpu
