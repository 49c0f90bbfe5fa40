#include "publish/prune.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "delta/static_delta.hpp"
#include "publish/deltas.hpp"
#include "publish/leftovers.hpp"
#include "publish/summary_view.hpp"
#include "publish/verification.hpp"
#include "repository/object_files.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Removes what a plan says, in its order.
class Removal {
public:
    Removal(const Context& ctx, const Repo& repo, const PrunePlan& plan, Signer& signer)
        : ctx_(ctx), repo_(repo), impl_(repo.impl()), plan_(plan), signer_(signer) {
        const SummaryView summary = read_summary(impl_.view());
        for (const UnneededDelta& delta : plan.deltas) {
            if (delta.due) {
                going_.insert(delta.directory.path);
                named_ = named_ || summary.deltas.contains(delta.directory.name());
            }
        }
        exists_ = summary.exists;
        // A run that was killed between the summary and its signature has left it.
        named_ = named_ || ::faccessat(impl_.open_directory(locks_directory).get(),
                                       impl_.summary_marker().c_str(), F_OK, 0) == 0;
    }

    /// What devices would refuse of the new summary, if one has to be made.
    void require_signature() const {
        if (!makes_summary()) {
            return;
        }
        require_signed_summary(impl_.path, signer_);
        for (const auto& [ref, head] : impl_.view().refs()) {
            require_summary_key(ctx_, impl_.view().commit_at(head, ref), signer_);
        }
    }

    void run() {
        remember();
        if (makes_summary()) {
            leave_summary_marker(impl_, "prune");
            update_summary(ctx_, impl_, signer_, going_);
        }
        remove_deltas();
        remove_commits();
        remove_objects();
        remove_leftovers();
        forget();
    }

private:
    [[nodiscard]] bool makes_summary() const { return exists_ && named_; }

    /// What has to wait, before anything goes. On a full disk that may not be possible, and what
    /// goes makes room; what nobody has noted waits longer.
    void remember() const {
        if (read_retention(impl_.view()) == plan_.record) {
            return;
        }
        const auto reason = reason_of_failure([&] { write_retention(repo_, plan_.record); });
        if (reason && !plan_.removes()) {
            throw Error(*reason).hinted(
                "what is not noted does not get older: free some space, or let --grace 0 remove it "
                "at once, which needs none");
        }
        if (reason) {
            ctx_.console->note(*reason);
        }
    }

    /// Until what has been removed is gone for certain: nothing that comes later may be gone, and
    /// this be there, after a power failure.
    void sync() const {
        if (impl_.fsync && ::syncfs(impl_.directory.get()) != 0) {
            throw write_error(impl_.path.string(), impl_.path.string(), errno);
        }
    }

    void remove(const std::string& name) const {
        if (::unlinkat(impl_.directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
            throw errno_error(impl_.shown(name), errno);
        }
    }

    void remove_deltas() const {
        for (const UnneededDelta& delta : plan_.deltas) {
            ctx_.check_cancelled();
            if (!delta.due) {
                continue;
            }
            const std::string& path = delta.directory.path;
            remove_delta(impl_, path);
            // Unless it has others.
            ::unlinkat(impl_.directory.get(), path.substr(0, path.rfind('/')).c_str(),
                       AT_REMOVEDIR);
        }
        const std::vector<DeltaDirectory> left =
            list_delta_directories(impl_.directory.get(), impl_.path.string());
        for (const UnneededDelta& delta : plan_.deltas) {
            if (delta.due &&
                std::ranges::find(left, delta.directory.to, &DeltaDirectory::to) == left.end()) {
                remove(index_path(delta.directory.to));
            }
        }
        if (!going_.empty()) {
            sync();
        }
    }

    void remove_commits() const {
        bool some = false;
        for (const UnneededCommit& commit : plan_.commits) {
            ctx_.check_cancelled();
            if (commit.due) {
                remove("objects/" + object_file_name(OSTREE_OBJECT_TYPE_COMMIT, commit.checksum));
                some = true;
            }
        }
        if (some) {
            sync();
        }
        for (const UnneededCommit& commit : plan_.commits) {
            if (commit.due) {
                remove(fmt::format("state/{}.commitpartial", commit.checksum));
            }
        }
    }

    void remove_objects() const {
        OstreeObjectType last = OSTREE_OBJECT_TYPE_COMMIT_META;
        std::size_t done = 0;
        for (const ObjectFile& file : plan_.objects) {
            ctx_.check_cancelled();
            if (file.type != last && file.type == OSTREE_OBJECT_TYPE_FILE) {
                sync();
            }
            last = file.type;
            remove("objects/" + file.name());
            ctx_.console->progress(++done, plan_.objects.size(), "objects removed");
        }
    }

    /// Whose maker runs stays: a build keeps its staging directory for longer than any lock on the
    /// repository, but has the lock of its ref.
    void remove_leftovers() const {
        for (const std::string& name : plan_.leftovers) {
            ctx_.check_cancelled();
            const std::size_t slash = name.find('/');
            const std::string entry = name.substr(slash + 1);
            const std::string lock_name = lock_of_temporary(entry);
            Fd lock;
            if (!lock_name.empty() && lock_name != impl_.ref_file + ".lock") {
                lock = open_at(impl_.open_directory(locks_directory).get(), lock_name,
                               O_RDWR | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
                if (lock ? !lock_file(lock.get(), LOCK_EX | LOCK_NB) : errno != ENOENT) {
                    continue;
                }
            }
            remove_at(impl_.open_directory(name.substr(0, slash)).get(), entry, impl_.shown(name));
        }
    }

    /// What is gone needs no note.
    void forget() const {
        RetentionRecord record = plan_.record;
        for (const UnneededCommit& commit : plan_.commits) {
            if (commit.due) {
                record.commits.erase(commit.checksum);
            }
        }
        for (const UnneededDelta& delta : plan_.deltas) {
            if (delta.due) {
                record.deltas.erase(delta.directory.name());
            }
        }
        if (record != read_retention(impl_.view())) {
            write_retention(repo_, record);
        }
    }

    const Context& ctx_;
    const Repo& repo_;
    const Repo::Impl& impl_;
    const PrunePlan& plan_;
    Signer& signer_;
    /// directories of the deltas that go
    std::set<std::string> going_;
    /// the summary names one of them, or is unfinished
    bool named_ = false;
    bool exists_ = false;
};

std::string plan_text(const PrunePlan& plan) {
    return fmt::format("{} commits kept; to remove: {} commits, {} deltas, {}", plan.kept,
                       plan.due_commits(), plan.due_deltas(),
                       human_size(plan.object_bytes + plan.due_delta_bytes()));
}

}  // namespace

PrunePlan prune(const Context& ctx, Stages& stages, const PruneRequest& request, Signer& signer,
                const std::function<void(const PrunePlan&)>& announce) {
    stages.begin("plan", "looking for what to remove from");
    const RepositoryView seen(request.repository);
    require_archive(seen, "prune");
    if (request.dry_run) {
        const SharedLock lock(ctx, seen, request.lock_wait);
        PrunePlan plan = plan_prune(ctx, seen, request, std::time(nullptr));
        stages.end(plan_text(plan));
        announce(plan);
        return plan;
    }
    const Repo repo = Repo::whole(ctx, request.repository, request.lock_wait);
    const ExclusiveLock lock(ctx, repo.impl(), request.lock_wait);
    const RepositoryView view = repo.impl().view();
    PrunePlan plan = plan_prune(ctx, view, request, std::time(nullptr));
    Removal removal(ctx, repo, plan, signer);
    removal.require_signature();
    stages.end(plan_text(plan));
    announce(plan);
    stages.begin("prune", "removing from");
    removal.run();
    stages.end(fmt::format("{} removed", human_size(plan.object_bytes + plan.due_delta_bytes())));
    return plan;
}

RetentionRecord change_pins(const Context& ctx, const std::filesystem::path& repository,
                            const std::vector<std::string>& pin,
                            const std::vector<std::string>& unpin, const LockWait& wait) {
    const RepositoryView seen(repository);
    require_archive(seen, "prune");
    const Repo repo = Repo::whole(ctx, repository, wait);
    const RepositoryView view = repo.impl().view();
    // No prune may be deciding now.
    const SharedLock lock(ctx, repo.impl(), wait);
    RetentionRecord record = read_retention(view);
    const RetentionRecord before = record;
    for (const std::string& name : pin) {
        record.pins.emplace(view.open(name).info().checksum, std::time(nullptr));
    }
    for (const std::string& name : unpin) {
        const std::string checksum =
            record.pins.contains(name) ? name : view.open(name).info().checksum;
        if (record.pins.erase(checksum) == 0) {
            throw error(ErrorKind::usage, "{}: commit {} is not pinned", view.path(), checksum)
                .hinted(record.pins.empty() ? "no commit is"
                                            : "edgegpu prune --dry-run lists those that are");
        }
    }
    if (record != before) {
        write_retention(repo, record);
    }
    return record;
}

}  // namespace edgegpu
