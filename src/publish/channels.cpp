#include "publish/channels.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "publish/verification.hpp"
#include "rollout/plan.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// What is read of a commit, and its tree.
struct ReadCommit {
    ChannelCommit commit;
    std::optional<CommitNode> tree;
};

/// What is shown of a commit. The rest, above all the packages, would be most of the memory for a
/// ref that has had thousands.
CommitInfo shown_of(const CommitInfo& info) {
    CommitInfo shown;
    shown.name = info.name;
    shown.checksum = info.checksum;
    shown.parent = info.parent;
    shown.time = info.time;
    shown.version = info.version;
    return shown;
}

ReadCommit read_commit(const RepositoryView& repository, const std::string& checksum) {
    ReadCommit read;
    try {
        const CommitView view = repository.commit_at(checksum, checksum);
        read.commit.record = read_channel_record(view);
        read.commit.commit = shown_of(view.info());
        read.tree = view.root();
    } catch (const Error& failure) {
        read.commit.commit.checksum = checksum;
        read.commit.problem = failure.message();
    }
    return read;
}

bool has_commit(const RepositoryView& repository, const std::string& checksum) {
    gboolean there = FALSE;
    GlibFailure failure;
    return ostree_repo_has_object(repository.handle(), OSTREE_OBJECT_TYPE_COMMIT, checksum.c_str(),
                                  &there, nullptr, failure.out()) == FALSE ||
           there != FALSE;
}

/// Whether the commit at `newer` has an older image than the one before it.
bool goes_back(const ReadCommit& newer, const ReadCommit& older) {
    return newer.tree && older.tree && !(*newer.tree == *older.tree) &&
           newer.commit.record.image_time < older.commit.record.image_time;
}

}  // namespace

std::vector<ReleaseChannel> list_channels(const RepositoryView& repository) {
    std::vector<ReleaseChannel> channels;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_tree;
    std::vector<std::optional<CommitNode>> roots;
    const std::map<std::string, std::string> refs = repository.refs();
    for (const auto& [ref, checksum] : refs) {
        if (is_plan_ref(ref)) {
            continue;  // no channel, but how one is rolled out
        }
        ReadCommit read = read_commit(repository, checksum);
        if (read.tree) {
            by_tree[{read.tree->checksum, read.tree->meta}].push_back(ref);
        }
        roots.push_back(std::move(read.tree));
        // The parent may be gone, or was never there.
        if (const std::string& parent = read.commit.commit.parent; !parent.empty()) {
            read.commit.going_back =
                goes_back({read.commit, roots.back()}, read_commit(repository, parent));
        }
        const auto plan = refs.find(plan_ref(ref));
        channels.push_back(
            {ref, std::move(read.commit), {}, plan == refs.end() ? std::string() : plan->second});
    }
    for (std::size_t i = 0; i < channels.size(); ++i) {
        if (roots[i]) {
            channels[i].same = by_tree[{roots[i]->checksum, roots[i]->meta}];
            std::erase(channels[i].same, channels[i].ref);
        }
    }
    return channels;
}

ChannelHistory history_of_channel(const RepositoryView& repository, const std::string& ref) {
    ChannelHistory history;
    std::vector<ReadCommit> commits;
    // Nobody has verified the checksums, so that commits may be their own ancestors.
    std::set<std::string> seen;
    for (std::string next = commit_of_ref(repository, ref);
         !next.empty() && seen.insert(next).second;) {
        if (!commits.empty() && !has_commit(repository, next)) {
            history.earlier = next;
            break;
        }
        commits.push_back(read_commit(repository, next));
        next = commits.back().commit.commit.parent;
    }
    for (std::size_t i = 0; i < commits.size(); ++i) {
        commits[i].commit.going_back =
            i + 1 < commits.size() && goes_back(commits[i], commits[i + 1]);
        history.commits.push_back(std::move(commits[i].commit));
    }
    return history;
}

}  // namespace edgegpu
