#include "publish/promote.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "commit/head.hpp"
#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "publish/end_of_life.hpp"
#include "publish/rollout.hpp"
#include "publish/verification.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// What is known before anything is written.
struct Plan {
    CommitView source;
    std::optional<CommitView> head;
    PromotedCommit commit;
    /// the ref has that tree from that commit already
    bool unchanged = false;
    bool going_back = false;
};

/// The ref by which the source was named, without ^, or the one that it was made for; empty if
/// there is none.
std::string ref_of_source(const RepositoryView& view, const CommitInfo& source) {
    std::string name = source.name;
    name.resize(name.find_last_not_of('^') + 1);
    if (view.refs().contains(name)) {
        return name;
    }
    return source.bound_refs.size() == 1 ? source.bound_refs.front() : std::string();
}

/// What no signature by --sign makes right for devices.
void require_takeable(const ChannelRecord& record, const std::optional<CommitView>& head) {
    const std::string other = head ? read_channel_record(*head).architecture : std::string();
    if (!other.empty() && !record.architecture.empty() && other != record.architecture) {
        throw error("the image is for {}, and that of the ref for {}", record.architecture, other)
            .hinted("promote it to a ref of its architecture");
    }
}

bool has_tree_of(const CommitView& one, const CommitView& other) {
    return one.root() == other.root();
}

/// Whether the ref has what this promotion would make of the source, but for who promoted it, when
/// and why. Otherwise its metadata are somebody else's, or devices of the ref refuse it.
bool is_promoted(const CommitView& head, const ChannelRecord& now, const CommitView& source,
                 const PromotedCommit& wanted) {
    if (now.end != wanted.end) {
        return false;
    }
    if (head.info().checksum == source.info().checksum) {
        return head.info().bound_refs == std::vector<std::string>{wanted.ref} &&
               (wanted.collection.empty() || head.info().collection == wanted.collection);
    }
    if (!now.promotion || now.promotion->from != source.info().checksum) {
        return false;
    }
    PromotedCommit same = wanted;
    same.promotion = *now.promotion;
    same.parent = head.info().parent;
    same.time = head.info().time;
    return sha256_hex(promoted_object(source, same)) == head.info().checksum;
}

/// Throws ErrorKind::usage for a ref that is promoted to itself, where nothing would become of it.
void require_other_ref(const PromoteRequest& request, const Plan& plan) {
    if (request.source == request.to && plan.unchanged && request.end == EndOfLife()) {
        throw error(ErrorKind::usage, "{}: is the ref that the commit comes from", request.to)
            .hinted(
                "name another ref with --to, or an older commit of this one: edgegpu channels "
                "shows "
                "them; --end-of-life ends a ref");
    }
}

/// Somebody else may have promoted to the ref, or published it, since the caller has looked.
void require_expected(const PromoteRequest& request, const Plan& plan) {
    const std::string now = plan.head ? plan.head->info().checksum : std::string(no_commit);
    // What has been ended behind the ref is ended by the same call.
    const bool made = plan.unchanged && plan.head->info().checksum != plan.source.info().checksum;
    const std::string& parent = made ? plan.head->info().parent : now;
    if (request.expected.empty() || now == request.expected ||
        (made && parent == request.expected) ||
        (made && parent.empty() && request.expected == no_commit)) {
        return;
    }
    throw error("{}: it has {}, and not {}, as --expect-before says", request.to,
                plan.head ? now : "no commit",
                request.expected == no_commit ? "no commit" : request.expected)
        .hinted(
            "somebody else has given it another one: look at that (edgegpu channels), and promote "
            "on top of it if that is right; nothing has been changed");
}

bool lacks_signature_of(const CommitView& commit, Signer& signer) {
    const VariantHandle object = commit.load(OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "");
    return lacks_signature(commit.detached_metadata().get(), bytes_of(object.get()), signer);
}

Plan make_plan(const Context& ctx, const RepositoryView& view, const PromoteRequest& request,
               std::optional<CommitView> head, Signer& signer) {
    view.require_own_objects();
    require_no_plan_ref(request.to);
    Plan plan{view.open(request.source), std::move(head), {}, false, false};
    const CommitInfo& source = plan.source.info();
    require_deployable(source);
    // The devices would have a tree without a system.
    std::ranges::for_each(source.bound_refs, require_no_plan_ref);
    const ChannelRecord record = read_channel_record(plan.source);
    plan.commit = {
        request.to,
        collection_of(view),
        "",
        source.time,
        {source.checksum, ref_of_source(view, source), request.by, request.at, request.reason},
        request.end};
    if (plan.head) {
        const ChannelRecord now = read_channel_record(*plan.head);
        const CommitInfo& info = plan.head->info();
        plan.unchanged = is_promoted(*plan.head, now, plan.source, plan.commit);
        plan.going_back =
            record.image_time < now.image_time && !has_tree_of(*plan.head, plan.source);
        plan.commit.parent = info.checksum;
    }
    require_expected(request, plan);
    require_other_ref(request, plan);
    require_whole(ctx, plan.source);
    const CommitView& image = plan.head ? *plan.head : plan.source;
    require_takeable(record, plan.head);
    if (!plan.unchanged) {
        // With a time that none can follow, it would be the last commit of the ref.
        Parent origin;
        origin.checksum = source.checksum;
        origin.time = source.time;
        static_cast<void>(commit_time(0, origin, std::nullopt));
        plan.commit.time = commit_time(source.time, std::nullopt, plan.head);
        require_signed_source(ctx, plan.source, plan.head, signer);
        require_commit_key(ctx, image, signer);
    } else if (lacks_signature_of(*plan.head, signer)) {
        require_signed_source(ctx, *plan.head, plan.head, signer);
        require_commit_key(ctx, image, signer);
    }
    require_end_of_life(ctx, view, plan.commit, image);
    require_summary_key(ctx, image, signer);
    return plan;
}

/// What is done all the same.
void warn(const Context& ctx, const Plan& plan, Signer& signer) {
    if (const EndOfLife ended = plan.head ? read_channel_record(*plan.head).end : EndOfLife();
        ended != EndOfLife() && plan.commit.end == EndOfLife()) {
        ctx.console->warn(
            fmt::format("{} had ended ({}), and goes on: devices that went on with another ref do "
                        "not come back",
                        plan.commit.ref, printable_line(ended.text)));
    }
    if (!plan.unchanged && plan.head && has_tree_of(*plan.head, plan.source) &&
        read_channel_record(*plan.head).end == plan.commit.end) {
        ctx.console->warn(fmt::format(
            "{} has this tree already, in commit {}: devices get another commit, and start anew, "
            "for nothing",
            plan.commit.ref, plan.head->info().checksum));
    }
    // Where the image is another one, devices have its keys from then on.
    if (!plan.unchanged && signer.signs_commits() && !verifies_key(ctx, plan.source, signer)) {
        ctx.console->warn(fmt::format(
            "devices that have got the tree of commit {} verify what comes next with its keys, and "
            "none of these verifies what the key of --sign signs: the next commit of {} needs "
            "another signature",
            plan.source.info().checksum, plan.commit.ref));
    }
}

/// The commit that an earlier run wrote, which was ended before the ref had it; nothing if there is
/// none. It differs from the one that this run would write in its time at most.
std::optional<std::string> find_begun(const RepositoryView& view, const Plan& plan) {
    for (const std::string& checksum : view.commits()) {
        try {
            const CommitView commit = view.commit_at(checksum, checksum);
            if (commit.info().parent != plan.commit.parent || !has_tree_of(commit, plan.source)) {
                continue;
            }
            PromotedCommit same = plan.commit;
            same.promotion.at = read_channel_record(commit).promotion.value_or(Promotion()).at;
            std::string object = promoted_object(plan.source, same);
            if (sha256_hex(object) == checksum) {
                return object;
            }
        } catch (const Error&) {
            // What an interrupted pull or prune left is none.
        }
    }
    return std::nullopt;
}

/// Writes the commit and its signature, and returns it as the repository has it.
CommitView write_promoted(const Repo::Impl& target, const Plan& plan, Signer& signer) {
    const std::string object =
        find_begun(target.view(), plan).value_or(promoted_object(plan.source, plan.commit));
    return write_signed_commit(target, signer, object, unsigned_metadata(plan.source).get());
}

/// Signs a commit that the ref has had without a signature by this key. Returns whether it did.
bool sign_later(const Repo::Impl& target, const CommitView& head, Signer& signer) {
    if (!lacks_signature_of(head, signer)) {
        return false;
    }
    add_signatures(target, signer, head);
    return true;
}

/// What is so already, and what the plan says.
Promoted begin_result(const Plan& plan) {
    Promoted promoted;
    promoted.source = plan.source.info();
    promoted.going_back = plan.going_back && !plan.unchanged;
    promoted.ref.ref = plan.commit.ref;
    promoted.ref.unchanged = plan.unchanged;
    promoted.record.promotion = plan.commit.promotion;
    promoted.record.end = plan.commit.end;
    promoted.record.image_time = read_channel_record(plan.source).image_time;
    if (plan.head) {
        promoted.ref.before = plan.head->info().checksum;
        promoted.before_version = plan.head->info().version;
    }
    if (plan.unchanged) {
        promoted.ref.commit = plan.head->info();
        promoted.record = read_channel_record(*plan.head);
    } else {
        promoted.ref.commit.time = plan.commit.time;
        promoted.ref.commit.version = plan.source.info().version;
    }
    return promoted;
}

Promoted plan_one(const Context& ctx, const RepositoryView& view, const PromoteRequest& request,
                  Signer& signer) {
    require_ref_name(request.to);
    require_place_of_ref(ostree_repo_get_dfd(view.handle()), request.repository, request.to);
    require_delta_sources(view, request.deltas.from);
    require_signed_summary(request.repository, signer);
    const Plan plan = make_plan(ctx, view, request, head_of(view, request.to), signer);
    warn(ctx, plan, signer);
    Promoted promoted = begin_result(plan);
    promoted.ref.is_signed = plan.unchanged ? is_signed(*plan.head) : signer.signs_commits();
    if (plan.head && !plan.unchanged) {
        // Of what is published already nothing is promised here.
        static_cast<void>(reason_of_failure(
            [&] { promoted.download = download_of(ctx, plan.source, *plan.head); }));
        ctx.check_cancelled();
    }
    return promoted;
}

void require_different_refs(const std::vector<SignedPromotion>& promotions) {
    std::set<std::string_view> refs;
    for (const SignedPromotion& promotion : promotions) {
        if (!refs.insert(promotion.request.to).second) {
            throw error(ErrorKind::usage, "{}: is named twice as a ref that gets a commit",
                        promotion.request.to)
                .hinted("each ref gets one commit: name it once, with --to or --also");
        }
    }
    for (const std::string_view ref : refs) {
        const auto below = std::ranges::find_if(
            refs, [&](std::string_view other) { return is_below(other, ref) && other != ref; });
        if (below != refs.end()) {
            throw error(ErrorKind::usage,
                        "refs {} and {} exclude each other: one is a file where the other needs a "
                        "directory",
                        ref, *below)
                .hinted("choose another name with --to or --also");
        }
    }
}

/// Writes the commit of a plan, if one is needed, and its signature.
CommitView write_commit(const Context& ctx, const Repo::Impl& target, const Plan& plan,
                        Signer& signer, Promoted& promoted) {
    if (plan.unchanged) {
        promoted.ref.unchanged = !sign_later(target, *plan.head, signer);
    }
    CommitView commit = plan.unchanged
                            ? target.view().commit_at(plan.head->info().checksum, plan.commit.ref)
                            : write_promoted(target, plan, signer);
    if (!plan.unchanged) {
        require_acceptable(ctx, commit, plan.head ? *plan.head : plan.source);
        promoted.record = read_channel_record(commit);
    }
    promoted.ref.commit = commit.info();
    promoted.ref.is_signed = is_signed(commit);
    return commit;
}

}  // namespace

std::vector<Promoted> plan_promotions(const Context& ctx, Stages& stages,
                                      const std::vector<SignedPromotion>& promotions) {
    stages.begin_quietly("check", "checking");
    require_different_refs(promotions);
    const RepositoryView view(promotions.front().request.repository);
    std::vector<Promoted> result = mapped(promotions, [&](const SignedPromotion& promotion) {
        return plan_one(ctx, view, promotion.request, *promotion.signer);
    });
    stages.end("");
    return result;
}

std::vector<Promoted> promote(const Context& ctx, Stages& stages,
                              const std::vector<SignedPromotion>& promotions) {
    stages.begin_quietly("check", "checking");
    require_different_refs(promotions);
    const PromoteRequest& first = promotions.front().request;
    // Does not create a repository, as the next one would.
    static_cast<void>(RepositoryView(first.repository));
    std::vector<Repo> targets;
    for (const SignedPromotion& promotion : promotions) {
        require_signed_summary(first.repository, *promotion.signer);
        targets.emplace_back(ctx, first.repository, promotion.request.to);
    }
    std::vector<Release> releases;
    // What is promoted may be pruned otherwise, and what is written before the ref has it. It ends
    // before the repository, which is among the releases then, is closed.
    const SharedLock lock(ctx, targets.front().impl(), first.lock_wait);
    std::vector<Plan> plans;
    std::vector<std::vector<CommitView>> sources;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto& [request, signer] = promotions[i];
        const RepositoryView view = targets[i].impl().view();
        plans.push_back(make_plan(ctx, view, request, head_of(view, request.to), *signer));
        const Plan& plan = plans.back();
        warn(ctx, plan, *signer);
        // Before anything is written, as there may be mistakes in these.
        sources.push_back(
            delta_sources(ctx, targets[i], request.deltas,
                          plan.unchanged ? plan.head->info().checksum : std::string()));
    }
    stages.end("");

    stages.begin_quietly("commit", "writing the commit of");
    std::vector<Promoted> result;
    std::vector<PublishedRef> published;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Promoted promoted = begin_result(plans[i]);
        CommitView commit =
            write_commit(ctx, targets[i].impl(), plans[i], *promotions[i].signer, promoted);
        std::erase_if(sources[i], [&](const CommitView& source) {
            return source.info().checksum == commit.info().checksum;
        });
        releases.push_back({std::move(commit), std::move(targets[i]), std::move(plans[i].head),
                            std::move(sources[i])});
        published.push_back(std::move(promoted.ref));
        result.push_back(std::move(promoted));
    }
    stages.end("");

    // The last one's signer has signed the last commit, and so knows what the summary has to have.
    finish_releases(ctx, stages, releases, published, first.deltas.largest_compared,
                    *promotions.back().signer);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i].ref = std::move(published[i]);
    }
    return result;
}

}  // namespace edgegpu
