#include "publish/fsck.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "installer/commit_signature.hpp"
#include "publish/copy.hpp"
#include "publish/leftovers.hpp"
#include "publish/retention_record.hpp"
#include "publish/verification.hpp"
#include "repository/object_files.hpp"
#include "repository/ostree_object.hpp"
#include "repository/versions.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// Entries of tmp/ that are not edgegpu's are libostree's, which removes them after a day.
constexpr std::int64_t temporary_age = std::int64_t{24} * 60 * 60;

/// What mends the repository.
class Repairs {
public:
    Repairs(const Context& ctx, const std::filesystem::path& source,
            const std::filesystem::path& target)
        : source_(source), target_(Repo::whole(ctx, target)), lock_(ctx, target_.impl()) {
        require_archive(source_, "fsck --repair-from");
        replacements_ = std::make_unique<ObjectReplacements>(source_, target_);
    }

    bool object(const TreeObject& object) {
        try {
            replacements_->replace(object);
            return true;
        } catch (const Error& failure) {
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            const std::lock_guard lock(mutex_);
            reasons_.insert(failure.message());
            return false;
        }
    }

    bool signatures(const std::string& commit) {
        GlibFailure failure;
        const VariantHandle metadata =
            load_object(source_.handle(), OSTREE_OBJECT_TYPE_COMMIT_META, commit, failure);
        if (!metadata) {
            reasons_.insert(
                fmt::format("{}: it has no signatures of commit {}", source_.path(), commit));
            return false;
        }
        write_detached(target_.impl(), commit, metadata.get());
        return true;
    }

    /// The mark of a commit that is whole now.
    void complete(const std::string& commit) {
        const std::string name = fmt::format("state/{}.commitpartial", commit);
        ::unlinkat(target_.impl().directory.get(), name.c_str(), 0);
    }

    [[nodiscard]] std::vector<std::string> reasons() const {
        return {reasons_.begin(), reasons_.end()};
    }

private:
    RepositoryView source_;
    Repo target_;
    SharedLock lock_;
    std::unique_ptr<ObjectReplacements> replacements_;
    std::mutex mutex_;
    std::set<std::string> reasons_;
};

class Check {
public:
    Check(const Context& ctx, const RepositoryView& repository, Repairs* repairs)
        : ctx_(ctx),
          repository_(repository),
          repairs_(repairs),
          commits_(complete_commits(repository)),
          walk_(
              ctx, repository, true,
              repairs == nullptr ? ObjectWalk::Repair() : [repairs](const TreeObject& object) {
                  return repairs->object(object);
              }) {}

    /// The versions of a ref, from the newest back.
    void check_ref(const std::string& ref, const std::string& head) {
        std::set<std::string> versions{head};
        const bool whole = check_commit(ref, head);
        if (whole) {
            check_binding(ref, head);
            check_head_signature(ref, head);
        } else {
            check_partial(ref, head);
        }
        for (std::string parent = parent_of(head);
             is_there(parent) && !repository_.is_partial(parent); parent = parent_of(parent)) {
            if (!versions.insert(parent).second) {
                break;
            }
            check_commit(ref, parent);
        }
        // Versions between them may not have been published.
        for (const CommitView* version : versions_of_ref(ref, head, commits_)) {
            const std::string& checksum = version->info().checksum;
            if (versions.insert(checksum).second) {
                check_commit(ref, checksum);
            }
        }
        report_.refs.push_back({ref, head, versions.size()});
    }

    void check_pinned(const std::string& commit) {
        if (is_there(commit) && !repository_.is_partial(commit)) {
            check_commit("", commit);
        }
    }

    /// All that nothing has reached.
    void count_leftovers() {
        Leftovers leftovers;
        const int directory = ostree_repo_get_dfd(repository_.handle());
        for (const ObjectFile& file : list_object_files(directory, repository_.path())) {
            const bool metadata = file.type == OSTREE_OBJECT_TYPE_COMMIT_META;
            if (walk_.reaches(metadata ? OSTREE_OBJECT_TYPE_COMMIT : file.type, file.checksum)) {
                continue;
            }
            leftovers.object_bytes += file.bytes;
            ++(file.type == OSTREE_OBJECT_TYPE_COMMIT ? leftovers.commits : leftovers.objects);
        }
        for (const DeltaDirectory& delta : list_delta_directories(directory, repository_.path())) {
            if (!delta.has_superblock || !walk_.reaches(OSTREE_OBJECT_TYPE_COMMIT, delta.to)) {
                ++leftovers.deltas;
                leftovers.delta_bytes += delta.bytes;
            }
        }
        const LeftoverFiles files = list_leftovers(repository_, std::time(nullptr), temporary_age);
        const LeftoverFiles young = list_leftovers(repository_, std::time(nullptr), 0);
        leftovers.temporary = files.temporary.size();
        for (const std::string& name : young.temporary) {
            // Of processes that have ended.
            leftovers.temporary +=
                !lock_of_temporary(name.substr(name.find('/') + 1)).empty() &&
                        std::ranges::find(files.temporary, name) == files.temporary.end()
                    ? 1
                    : 0;
        }
        leftovers.partial = young.partial.size();
        report_.leftovers = leftovers;
    }

    FsckReport take() {
        report_.objects = walk_.checked();
        if (repairs_ != nullptr) {
            report_.not_repaired = repairs_->reasons();
        }
        return std::move(report_);
    }

    [[nodiscard]] FsckReport& report() { return report_; }
    [[nodiscard]] const std::vector<std::string>& checked() const { return checked_; }

private:
    [[nodiscard]] bool is_there(const std::string& commit) const {
        return !commit.empty() &&
               ::faccessat(
                   ostree_repo_get_dfd(repository_.handle()),
                   ("objects/" + object_file_name(OSTREE_OBJECT_TYPE_COMMIT, commit)).c_str(), F_OK,
                   AT_SYMLINK_NOFOLLOW) == 0;
    }

    /// Empty if there is none, or it is not known.
    [[nodiscard]] std::string parent_of(const std::string& commit) const {
        GlibFailure failure;
        const VariantHandle object =
            load_object(repository_.handle(), OSTREE_OBJECT_TYPE_COMMIT, commit, failure);
        return object ? checksum_in(object.get(), 1) : std::string();
    }

    /// Whether it can be read, and is not there in part.
    bool check_commit(const std::string& ref, const std::string& commit) {
        const std::size_t before = walk_.faults().size();
        const bool whole = walk_.add(commit);
        for (std::size_t i = before; i < walk_.faults().size(); ++i) {
            report_.damaged.push_back({ref, walk_.faults()[i]});
        }
        if (std::ranges::find(checked_, commit) == checked_.end()) {
            checked_.push_back(commit);
            check_signatures(commit);
        }
        return whole;
    }

    void check_signatures(const std::string& commit) {
        GlibFailure failure;
        if (load_object(repository_.handle(), OSTREE_OBJECT_TYPE_COMMIT_META, commit, failure) ||
            failure.is(G_IO_ERROR_NOT_FOUND)) {
            return;
        }
        FsckProblem problem{
            "signatures", "objects/" + object_file_name(OSTREE_OBJECT_TYPE_COMMIT_META, commit),
            fmt::format("the signatures of commit {} cannot be read: {}", commit,
                        failure.get()->message),
            "--repair-from copies them from the repository that was published from", false};
        problem.repaired = repairs_ != nullptr && repairs_->signatures(commit);
        report_.problems.push_back(std::move(problem));
    }

    /// What is wrong with the signatures of a commit, or with checking them, for devices that run
    /// it; nothing if they take it.
    [[nodiscard]] std::optional<FsckProblem> refusal_of(const std::string& ref,
                                                        const std::string& commit) const {
        FsckProblem problem{
            "signatures", "objects/" + object_file_name(OSTREE_OBJECT_TYPE_COMMIT_META, commit), "",
            "--repair-from copies the signatures from the repository that was published from; or "
            "sign it: edgegpu publish --sign",
            false};
        try {
            const CommitView image = repository_.commit_at(commit, ref);
            require_acceptable(ctx_, image, image);
            return std::nullopt;
        } catch (const RefusedCommit& refusal) {
            problem.what =
                fmt::format("devices that follow {} refuse its commit: {}", ref, refusal.message());
        } catch (const Error& failure) {
            // An image that is damaged or has keys which nobody reads, or GnuPG does not run here.
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            problem.what = fmt::format(
                "whether devices that follow {} take its signatures could not be "
                "checked: {}",
                ref, failure.message());
            problem.hint = failure.hint();
        }
        return problem;
    }

    void check_head_signature(const std::string& ref, const std::string& commit) {
        std::optional<FsckProblem> problem = refusal_of(ref, commit);
        // What cannot be read is told already.
        if (!problem || std::ranges::find(report_.problems, problem->subject,
                                          &FsckProblem::subject) != report_.problems.end()) {
            return;
        }
        problem->repaired =
            repairs_ != nullptr && repairs_->signatures(commit) && !refusal_of(ref, commit);
        report_.problems.push_back(*std::move(problem));
    }

    /// Clients take a commit for no other ref than those that it names.
    void check_binding(const std::string& ref, const std::string& commit) {
        const auto found = std::ranges::find_if(
            commits_, [&](const CommitView& known) { return known.info().checksum == commit; });
        if (found == commits_.end() || found->info().bound_refs.empty()) {
            return;
        }
        const std::vector<std::string>& bound = found->info().bound_refs;
        if (std::ranges::find(bound, ref.substr(ref.find(':') + 1)) == bound.end()) {
            report_.problems.push_back(
                {"ref", ref,
                 fmt::format("its commit {} was made for {}: devices that follow it refuse that",
                             commit, fmt::join(bound, ", ")),
                 "publish a commit that was built for the ref", false});
        }
    }

    void check_partial(const std::string& ref, const std::string& commit) {
        if (!repository_.is_partial(commit)) {
            return;
        }
        FsckProblem problem{"ref", ref,
                            fmt::format("its commit {} is marked as pulled in part", commit),
                            "pull or publish it again", false};
        if (repairs_ != nullptr &&
            std::ranges::all_of(report_.damaged, [&](const DamagedObject& damaged) {
                return damaged.fault.commit != commit || damaged.fault.repaired;
            })) {
            repairs_->complete(commit);
            problem.repaired = true;
        }
        report_.problems.push_back(std::move(problem));
    }

    const Context& ctx_;
    const RepositoryView& repository_;
    Repairs* repairs_;
    std::vector<CommitView> commits_;
    ObjectWalk walk_;
    std::vector<std::string> checked_;
    FsckReport report_;
};

std::map<std::string, std::string> wanted_refs(const RepositoryView& repository,
                                               const std::vector<std::string>& wanted) {
    std::map<std::string, std::string> refs = named_commits(repository);
    if (wanted.empty()) {
        return refs;
    }
    std::map<std::string, std::string> chosen;
    for (const std::string& ref : wanted) {
        chosen.emplace(ref, commit_of_ref(repository, refs, ref));
    }
    return chosen;
}

}  // namespace

bool FsckReport::is_damaged() const {
    return std::ranges::any_of(damaged,
                               [](const DamagedObject& one) { return !one.fault.repaired; }) ||
           std::ranges::any_of(problems, [](const FsckProblem& one) { return !one.repaired; });
}

FsckReport fsck(const Context& ctx, Stages& stages, const FsckRequest& request) {
    stages.begin("objects", "checking the objects of");
    const RepositoryView repository(request.repository);
    require_archive(repository, "fsck");
    const std::map<std::string, std::string> refs = wanted_refs(repository, request.refs);
    std::optional<Repairs> repairs;
    std::optional<SharedLock> lock;
    if (request.repair_from.empty()) {
        lock.emplace(ctx, repository);
    } else {
        repairs.emplace(ctx, request.repair_from, request.repository);
    }
    Check check(ctx, repository, repairs ? &*repairs : nullptr);
    for (const auto& [ref, head] : refs) {
        check.check_ref(ref, head);
    }
    if (request.refs.empty()) {
        for (const auto& [commit, since] : read_retention(repository).pins) {
            check.check_pinned(commit);
        }
        check.count_leftovers();
    }
    const std::vector<std::string> checked = check.checked();
    FsckReport report = check.take();
    stages.end(fmt::format("{} objects, {} damaged", report.objects, report.damaged.size()));
    stages.begin("deltas", "checking deltas and summary of");
    check_deltas(ctx, repository, checked, report);
    check_indexes_and_summary(ctx, repository, checked, report);
    warn_of_unreadable(ctx, request.repository, true);
    stages.end(fmt::format("{} deltas", report.deltas));
    return report;
}

}  // namespace edgegpu
