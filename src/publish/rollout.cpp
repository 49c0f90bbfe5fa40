#include "publish/rollout.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commit/commit.hpp"
#include "commit/metadata.hpp"
#include "commit/repository.hpp"
#include "commit/small_tree.hpp"
#include "delta/static_delta.hpp"
#include "installer/commit_signature.hpp"
#include "openpgp/key_file.hpp"
#include "publish/verification.hpp"
#include "repository/remote_config.hpp"
#include "repository/versions.hpp"
#include "rollout/facts.hpp"
#include "rollout/graph.hpp"
#include "rollout/turns.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// A file of a plan's commit.
std::string plan_file(const CommitView& commit, const char* path, std::uint64_t limit) {
    std::optional<std::string> text = commit.read(path, limit);
    if (!text) {
        throw commit.malformed(path, "it is not there: the commit is no plan");
    }
    return std::move(*text);
}

RolloutPlan checked_plan(const CommitView& commit, const std::string& ref) {
    const CommitInfo& info = commit.info();
    const std::string shown = fmt::format("the plan of {} (commit {})", ref, info.checksum);
    RolloutPlan plan = parse_plan(plan_file(commit, "/plan", largest_plan), shown);
    if (plan.ref != ref || info.bound_refs != std::vector<std::string>{plan_ref(ref)}) {
        throw error("{}: is of another ref, {}: devices refuse it", shown, plan.ref);
    }
    if (plan.serial != info.time) {
        throw error("{}: its serial is {}, and its time {}: devices refuse it", shown, plan.serial,
                    info.time);
    }
    add_graph(plan, plan_file(commit, "/graph.json", largest_graph),
              fmt::format("graph.json of {}", shown));
    return plan;
}

PublishedPlan plan_in(CommitView commit, const std::string& ref) {
    try {
        RolloutPlan plan = checked_plan(commit, ref);
        return {std::move(commit), std::move(plan)};
    } catch (Error& failure) {
        const std::string name = plan_ref(ref);
        throw failure.hinted(fmt::format(
            "edgegpu fsck shows damage; go back to the plan before (ostree reset {0} {0}^), or "
            "without one begin anew: ostree refs --delete {0}, edgegpu rollout start {1}",
            name, ref));
    }
}

bool is_there(const RepositoryView& view, const std::string& checksum) {
    return !reason_of_failure([&] { static_cast<void>(view.commit_at(checksum, checksum)); });
}

/// Devices would ask for what is not there.
void require_targets(const RepositoryView& view, const RolloutPlan& plan) {
    for (const PlannedRelease& release : plan.releases) {
        if (release.wave && !is_there(view, release.commit)) {
            throw error("{}: commit {}, to which the plan leads, is not there, or incomplete",
                        view.path(), release.commit)
                .hinted(fmt::format("mend it with edgegpu fsck --repair-from, or take it out: "
                                    "edgegpu rollout abort {} --commit {}",
                                    plan.ref, release.commit.substr(0, 10)));
        }
    }
}

/// The commits that devices run which read the plan, as far as they are there.
std::vector<CommitView> images_of(const RepositoryView& view, const RolloutPlan& plan) {
    std::vector<CommitView> images;
    for (const PlannedRelease& release : plan.releases) {
        const bool leads =
            std::ranges::find(plan.edges, release.commit, &PlanEdge::from) != plan.edges.end();
        if (leads && is_there(view, release.commit)) {
            images.push_back(view.commit_at(release.commit, release.commit));
        }
    }
    return images;
}

/// What decides which signatures devices take, in one text.
std::string trust_of(const CommitView& image) {
    Sha256 digest;
    for (const RemoteConfig& remote : remotes_of(image)) {
        digest.update_field(remote.name);
        digest.update_field(remote.verifies_by_gpg ? "by GPG" : "");
        digest.update_field(fmt::format("{}", fmt::join(remote.sign_verify, ",")));
        for (const std::string& key : ed25519_keys_of(image, {}, remote)) {
            digest.update_field(key);
        }
        for (const Certificate& key : keys_of_remote(image, {}, remote.name)) {
            digest.update_field(key.packets);
        }
    }
    return digest.hex();
}

/// Who gets the newest commit needs to verify the next plan; of those that are to get it, who
/// cannot verify this one gets nothing.
void require_plan_keys(const Context& ctx, const RepositoryView& view, const RolloutPlan& plan,
                       Signer& signer) {
    const PlannedRelease* newest = newest_wave(plan);
    const CommitView image =
        newest != nullptr ? view.commit_at(newest->commit, newest->commit) : view.open(plan.ref);
    require_commit_key(ctx, image, signer);
    require_summary_key(ctx, image, signer);
    // Most images have the same keys, and GnuPG takes its time.
    std::map<std::string, std::optional<Error>> judged{{trust_of(image), std::nullopt}};
    std::vector<std::string> cannot;
    const std::vector<CommitView> images = images_of(view, plan);
    for (const CommitView& older : images) {
        ctx.check_cancelled();
        const auto [place, is_new] = judged.try_emplace(trust_of(older));
        try {
            if (is_new) {
                require_commit_key(ctx, older, signer);
            }
        } catch (const Error& failure) {
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            place->second = failure;
        }
        if (!place->second) {
            continue;
        }
        cannot.push_back(older.info().version.empty() ? older.info().checksum.substr(0, 10)
                                                      : older.info().version);
        if (cannot.size() == images.size()) {
            throw Error(*place->second);
        }
    }
    if (!cannot.empty()) {
        ctx.console->warn(fmt::format(
            "devices with {} cannot verify what the key of --sign signs: they get no plan, and "
            "stay as they are",
            fmt::join(cannot, ", ")));
    }
}

/// What is known before anything is written.
struct RolloutChange {
    std::optional<PublishedPlan> before;
    ChangedPlan changed;
};

RolloutChange plan_change(const Context& ctx, const RepositoryView& view,
                          const RolloutRequest& request, Signer& signer) {
    view.require_own_objects();
    static_cast<void>(commit_of_ref(view, request.ref));
    const std::optional<CommitView> head = head_of(view, request.ref);
    RolloutChange change{read_plan(view, request.ref), {}};
    std::optional<RolloutPlan> plan;
    if (change.before) {
        require_signed_source(ctx, change.before->commit, head, signer);
        plan = change.before->plan;
    }
    change.changed = request.change(view, plan);
    if (change.changed.unchanged) {
        return change;
    }
    RolloutPlan& made = change.changed.plan;
    renew(made, plan ? plan->serial : 0, request.now, request.lifetime);
    constexpr std::int64_t hour = 3600;
    if (made.serial > request.now + hour) {
        ctx.console->warn(fmt::format(
            "{}: the plan before was made {} hours after what is now here: a clock is wrong. "
            "Devices believe the new one for {} hours from now",
            request.ref, (made.serial - request.now) / hour, (made.expires - request.now) / hour));
    }
    require_targets(view, made);
    if (const std::string& checksum = change.changed.target; !checksum.empty()) {
        const CommitView target = view.commit_at(checksum, checksum);
        require_bound(target, request.ref);
        require_whole(ctx, target);
        require_acceptable(ctx, target, *head);
    }
    require_plan_keys(ctx, view, made, signer);
    const std::string text = plan_text(made);
    if (text.size() > largest_plan) {
        throw error(
            "{}: the plan would have more than 1 MiB, which devices do not read: {} releases, "
            "{} edges",
            request.ref, made.releases.size(), made.edges.size())
            .hinted(
                "abort what need not be reached any more; --barrier ends edges from older "
                "releases");
    }
    // Devices refuse what this refuses.
    static_cast<void>(parse_plan(text, "the new plan"));
    return change;
}

VariantHandle plan_metadata(const RepositoryView& view, const std::string& ref) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    if (const std::string collection = collection_of(view); !collection.empty()) {
        g_variant_builder_add(&builder, "{sv}", OSTREE_COMMIT_META_KEY_COLLECTION_BINDING,
                              g_variant_new_string(collection.c_str()));
    }
    const char* bound = ref.c_str();
    g_variant_builder_add(&builder, "{sv}", OSTREE_COMMIT_META_KEY_REF_BINDING,
                          g_variant_new_strv(&bound, 1));
    return own(g_variant_builder_end(&builder));
}

/// Writes the commit of a plan and its signature, and returns it as the repository has it.
CommitView write_plan(const Repo::Impl& target, const RolloutPlan& plan, const std::string& parent,
                      Signer& signer) {
    const SmallTree tree =
        make_small_tree({{"plan", plan_text(plan)}, {"graph.json", graph_text(plan)}});
    const VariantHandle metadata = plan_metadata(target.view(), target.ref);
    const std::string object =
        commit_object(metadata.get(), parent, fmt::format("Rollout plan of {}", plan.ref),
                      plan.serial, tree.root_tree, tree.root_meta);
    return write_signed_commit(target, signer, object, nullptr, tree.objects);
}

ChangedRollout rollout_result(const RolloutRequest& request, const RolloutChange& change) {
    ChangedRollout result;
    result.ref.ref = plan_ref(request.ref);
    result.ref.unchanged = change.changed.unchanged;
    if (change.before) {
        result.ref.before = change.before->commit.info().checksum;
        result.before = change.before->plan;
    }
    result.changed = change.changed;
    return result;
}

void require_followed_ref(const std::string& ref) {
    require_ref_name(ref);
    require_no_plan_ref(ref);
}

}  // namespace

std::optional<PublishedPlan> read_plan(const RepositoryView& repository, const std::string& ref) {
    std::optional<CommitView> commit = head_of(repository, plan_ref(ref));
    if (!commit) {
        return std::nullopt;
    }
    return plan_in(std::move(*commit), ref);
}

std::vector<PlannedRelease> known_releases(const RepositoryView& repository,
                                           const std::string& ref) {
    const std::vector<CommitView> commits = complete_commits(repository);
    return mapped(versions_of_ref(ref, commit_of_ref(repository, ref), commits),
                  [](const CommitView* commit) { return release_of(*commit); });
}

std::set<std::string> planned_commits(const RepositoryView& repository) {
    std::set<std::string> planned;
    for (const auto& [ref, checksum] : repository.refs()) {
        if (!ref.starts_with(plan_prefix)) {
            continue;
        }
        const PublishedPlan published =
            plan_in(repository.commit_at(checksum, ref), ref.substr(plan_prefix.size()));
        for (const PlannedRelease& release : published.plan.releases) {
            if (release.wave) {
                planned.insert(release.commit);
            }
        }
    }
    return planned;
}

void require_no_plan_ref(const std::string& ref) {
    if (is_plan_ref(ref)) {
        throw error(ErrorKind::usage, "{}: is the ref of a rollout plan, not of images", ref)
            .hinted("edgegpu rollout writes it: name the ref that devices follow");
    }
}

ChangedRollout change_rollout(const Context& ctx, Stages& stages, const RolloutRequest& request,
                              Signer& signer) {
    stages.begin_quietly("check", "checking");
    require_followed_ref(request.ref);
    const RepositoryView seen(request.repository);
    require_signed_summary(request.repository, signer);
    if (request.dry_run) {
        ChangedRollout result = rollout_result(request, plan_change(ctx, seen, request, signer));
        result.ref.is_signed = signer.signs_commits();
        stages.end("");
        return result;
    }
    Repo target(ctx, request.repository, plan_ref(request.ref));
    const Repo::Impl& impl = target.impl();
    std::vector<Release> releases;
    // It ends before the repository, which is among the releases then, is closed.
    const SharedLock lock(ctx, impl, request.lock_wait);
    RolloutChange change = plan_change(ctx, impl.view(), request, signer);
    stages.end("");

    stages.begin_quietly("commit", "writing the plan of");
    const std::string name = plan_ref(request.ref);
    const std::string parent =
        change.before ? change.before->commit.info().checksum : std::string();
    CommitView commit = change.changed.unchanged
                            ? impl.view().commit_at(parent, name)
                            : write_plan(impl, change.changed.plan, parent, signer);
    ChangedRollout result = rollout_result(request, change);
    std::optional<CommitView> before;
    if (change.before) {
        before.emplace(std::move(change.before->commit));
    }
    result.ref.commit = commit.info();
    result.ref.is_signed = is_signed(commit);
    stages.end("");

    releases.push_back({std::move(commit), std::move(target), std::move(before), {}});
    std::vector<PublishedRef> published;
    published.push_back(std::move(result.ref));
    finish_releases(ctx, stages, releases, published, DeltaOptions().largest_compared, signer);
    result.ref = std::move(published.front());
    return result;
}

}  // namespace edgegpu
