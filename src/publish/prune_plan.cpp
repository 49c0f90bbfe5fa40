#include "publish/prune_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "publish/leftovers.hpp"
#include "publish/rollout.hpp"
#include "publish/summary_view.hpp"
#include "repository/object_walk.hpp"
#include "repository/versions.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

Error damaged(const RepositoryView& repository, std::string_view what) {
    return error("{}: {}: what it needs is not known, and nothing is removed", repository.path(),
                 what)
        .hinted(fmt::format("edgegpu fsck --repo {} shows what is damaged, and --repair-from mends "
                            "it",
                            shell_word(repository.path())));
}

class Planning {
public:
    Planning(const Context& ctx, const RepositoryView& repository, const PruneRequest& request,
             std::int64_t now)
        : ctx_(ctx),
          repository_(repository),
          request_(request),
          now_(now),
          commits_(complete_commits(repository)),
          files_(list_object_files(ostree_repo_get_dfd(repository.handle()), repository.path())),
          record_(read_retention(repository)) {}

    PrunePlan plan() {
        choose_kept();
        require_readable();
        judge_commits();
        judge_deltas();
        choose_objects();
        const LeftoverFiles leftovers = list_leftovers(repository_, now_, request_.grace.count());
        plan_.leftovers = leftovers.temporary;
        for (const std::string& partial : leftovers.partial) {
            const std::string name = partial.substr(partial.find('/') + 1);
            if (!present_.contains(name.substr(0, name.find('.')))) {
                plan_.leftovers.push_back(partial);
            }
        }
        plan_.kept = kept_.size();
        return std::move(plan_);
    }

private:
    void choose_kept() {
        for (const auto& [ref, head] : named_commits(repository_)) {
            heads_.insert(head);
            const std::vector<const CommitView*> versions = versions_of_ref(ref, head, commits_);
            if (versions.empty()) {
                throw damaged(repository_,
                              fmt::format("commit {} of ref {} cannot be read", head, ref));
            }
            for (std::size_t i = 0; i < versions.size(); ++i) {
                const std::string& checksum = versions[i]->info().checksum;
                refs_.emplace(checksum, ref);
                if (i < request_.keep) {
                    kept_.emplace(checksum, versions[i]);
                }
            }
        }
        // Clients that ask the summary get what that names, if a run that was to make it anew was
        // killed.
        for (const auto& [ref, checksum] : read_summary(repository_).refs) {
            heads_.insert(checksum);
        }
        // Devices still get what some plan leads them to, deltas to it included.
        heads_.merge(planned_commits(repository_));
        for (const CommitView& commit : commits_) {
            const std::string& checksum = commit.info().checksum;
            if (record_.pins.contains(checksum) || heads_.contains(checksum)) {
                kept_.emplace(checksum, &commit);
            }
        }
    }

    /// The commits that are there, and of those that are to be kept everything below.
    void require_readable() {
        const auto complete = mapped_to<std::set<std::string>>(
            commits_, [](const CommitView& commit) { return commit.info().checksum; });
        for (const ObjectFile& file : files_) {
            if (file.type == OSTREE_OBJECT_TYPE_COMMIT) {
                present_.insert(file.checksum);
            }
        }
        for (const std::string& checksum : present_) {
            const bool parent = std::ranges::any_of(
                kept_, [&](const auto& kept) { return kept.second->info().parent == checksum; });
            if (!complete.contains(checksum) && !repository_.is_partial(checksum) &&
                (parent || record_.pins.contains(checksum))) {
                throw damaged(repository_, fmt::format("commit {} cannot be read", checksum));
            }
        }
        for (const auto& [checksum, commit] : kept_) {
            walk_.add(checksum);
            if (!walk_.faults().empty()) {
                const ObjectFault& fault = walk_.faults().front();
                throw damaged(
                    repository_,
                    fmt::format("commit {}: the object of {} is damaged ({}: {})", checksum,
                                fault.object.path.empty() ? "the commit itself" : fault.object.path,
                                object_file_name(fault.object.type, fault.object.checksum),
                                name_of(fault.state)));
            }
        }
    }

    void judge_commits() {
        std::set<std::string> unneeded;
        std::ranges::copy_if(
            present_, std::inserter(unneeded, unneeded.end()),
            [&](const std::string& checksum) { return !kept_.contains(checksum); });
        const Unneeded judged = judge_unneeded(unneeded, record_.commits, now_, request_.grace);
        for (const auto& [checksum, since] : judged.due) {
            plan_.commits.push_back(describe(checksum, since, true));
        }
        for (const auto& [checksum, since] : judged.waiting) {
            plan_.commits.push_back(describe(checksum, since, false));
            // It stays whole; what is damaged of it already is nobody's loss.
            walk_.add(checksum);
        }
        // The oldest goes first, so that parents lead to what is there.
        std::ranges::sort(
            plan_.commits, [](const UnneededCommit& one, const UnneededCommit& other) {
                return std::tie(one.time, one.checksum) < std::tie(other.time, other.checksum);
            });
        plan_.record.pins = record_.pins;
        for (const UnneededCommit& commit : plan_.commits) {
            plan_.record.commits.emplace(commit.checksum, commit.since);
        }
    }

    [[nodiscard]] UnneededCommit describe(const std::string& checksum, std::int64_t since,
                                          bool due) const {
        UnneededCommit commit{"", checksum, "", 0, since, due};
        const auto found = std::ranges::find_if(
            commits_, [&](const CommitView& known) { return known.info().checksum == checksum; });
        if (found != commits_.end()) {
            const CommitInfo& info = found->info();
            commit.version = info.version;
            commit.time = info.time;
            commit.ref = info.bound_refs.empty() ? "" : info.bound_refs.front();
        }
        if (const auto ref = refs_.find(checksum); ref != refs_.end()) {
            commit.ref = ref->second;
        }
        return commit;
    }

    /// Devices ask for deltas to what a ref has, from whatever they run.
    void judge_deltas() {
        std::map<std::string, DeltaDirectory> unneeded;
        std::set<std::string> names;
        for (DeltaDirectory& delta : list_delta_directories(
                 ostree_repo_get_dfd(repository_.handle()), repository_.path())) {
            if (!heads_.contains(delta.to) || !delta.has_superblock) {
                names.insert(delta.name());
                unneeded.emplace(delta.name(), std::move(delta));
            }
        }
        const Unneeded judged = judge_unneeded(names, record_.deltas, now_, request_.grace);
        for (const bool due : {true, false}) {
            for (const auto& [name, since] : due ? judged.due : judged.waiting) {
                plan_.deltas.push_back({unneeded.at(name), since, due});
                plan_.record.deltas.emplace(name, since);
            }
        }
    }

    void choose_objects() {
        ObjectWalk going(ctx_, repository_, false);
        std::set<std::string> due;
        for (const UnneededCommit& commit : plan_.commits) {
            if (commit.due) {
                due.insert(commit.checksum);
                going.add(commit.checksum);
            }
        }
        for (const ObjectFile& file : files_) {
            if (file.type == OSTREE_OBJECT_TYPE_COMMIT) {
                plan_.object_bytes += due.contains(file.checksum) ? file.bytes : 0;
                continue;
            }
            const bool metadata = file.type == OSTREE_OBJECT_TYPE_COMMIT_META;
            const bool needed =
                metadata ? present_.contains(file.checksum) && !due.contains(file.checksum)
                         : walk_.reaches(file.type, file.checksum);
            const bool goes =
                metadata ? due.contains(file.checksum) : going.reaches(file.type, file.checksum);
            // What else nothing reaches was left by a run that was killed, or is about to be.
            if (!needed && (goes || now_ - file.modified >= request_.grace.count() ||
                            request_.grace.count() == 0)) {
                plan_.objects.push_back(file);
                plan_.object_bytes += file.bytes;
            }
        }
        const auto rank = [](const ObjectFile& file) {
            return file.type == OSTREE_OBJECT_TYPE_COMMIT_META ? 0
                   : file.type == OSTREE_OBJECT_TYPE_DIR_TREE  ? 1
                   : file.type == OSTREE_OBJECT_TYPE_DIR_META  ? 2
                                                               : 3;
        };
        std::ranges::stable_sort(plan_.objects, {}, rank);
    }

    const Context& ctx_;
    const RepositoryView& repository_;
    const PruneRequest& request_;
    std::int64_t now_;
    std::vector<CommitView> commits_;
    std::vector<ObjectFile> files_;
    RetentionRecord record_;
    /// by checksum
    std::map<std::string, const CommitView*> kept_;
    /// a ref of which a commit is a version
    std::map<std::string, std::string> refs_;
    std::set<std::string> heads_;
    std::set<std::string> present_;
    ObjectWalk walk_{ctx_, repository_, false};
    PrunePlan plan_;
};

}  // namespace

std::size_t PrunePlan::due_commits() const {
    return static_cast<std::size_t>(std::ranges::count(commits, true, &UnneededCommit::due));
}

std::size_t PrunePlan::due_deltas() const {
    return static_cast<std::size_t>(std::ranges::count(deltas, true, &UnneededDelta::due));
}

std::uint64_t PrunePlan::due_delta_bytes() const {
    std::uint64_t bytes = 0;
    for (const UnneededDelta& delta : deltas) {
        bytes += delta.due ? delta.directory.bytes : 0;
    }
    return bytes;
}

bool PrunePlan::removes() const {
    return due_commits() + due_deltas() + objects.size() + leftovers.size() > 0;
}

namespace {

/// When the summary was written, which nothing makes earlier; 0 without one.
std::int64_t time_of_summary(const RepositoryView& repository) {
    struct stat status {};
    return ::fstatat(ostree_repo_get_dfd(repository.handle()), "summary", &status,
                     AT_SYMLINK_NOFOLLOW) == 0
               ? status.st_mtim.tv_sec
               : 0;
}

}  // namespace

PrunePlan plan_prune(const Context& ctx, const RepositoryView& repository,
                     const PruneRequest& request, std::int64_t now) {
    constexpr std::int64_t hour = 3600;
    // Whoever notes the time of a clock that is behind would take it from the time of grace.
    const std::int64_t published = time_of_summary(repository);
    if (published > now + hour) {
        ctx.console->warn(fmt::format(
            "{}: was published at {}, and here it is {}: a clock is wrong. The later time counts",
            repository.path(), minute_text(published), minute_text(now)));
    }
    return Planning(ctx, repository, request, std::max(now, published)).plan();
}

}  // namespace edgegpu
