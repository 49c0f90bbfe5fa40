#include "upload/upload_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "delta/static_delta.hpp"

namespace edgegpu {

namespace {

/// Whether the file is one of RemoteState::heads.
bool is_head(UploadStep step) {
    return step >= UploadStep::config;
}

class Comparing {
public:
    Comparing(const PublishedState& local, const RcloneRemote& remote, const RemoteState& there,
              bool verify)
        : local_(local), remote_(remote), there_(there), verify_(verify) {}

    UploadPlan plan() {
        for (const auto& [path, size] : local_.files()) {
            compare(path, size, step_of(path).value());
        }
        for (const auto& [step, paths] : doubtful_) {
            for (std::string& path : remote_.differing(local_.directory_of(step), paths,
                                                       step == UploadStep::delta_parts && !verify_
                                                           ? Comparison::known
                                                           : Comparison::content)) {
                plan_.missing[step].push_back(std::move(path));
            }
        }
        replace_deltas();
        find_superfluous();
        return std::move(plan_);
    }

private:
    void compare(const std::string& path, std::uint64_t size, UploadStep step) {
        const auto found = there_.files.find(path);
        if (found == there_.files.end() || found->second != size) {
            plan_.missing[step].push_back(path);
        } else if (is_head(step)) {
            if (there_.head(path) != local_.content(path)) {
                plan_.missing[step].push_back(path);
            }
        } else if (verify_ || !is_immutable(step)) {
            doubtful_[step].push_back(path);
        }
    }

    /// Whether what clients have read before may name this superblock.
    [[nodiscard]] bool may_be_named(const std::string& superblock) const {
        const DeltaCommits commits = commits_of_delta(superblock);
        const std::string name =
            commits.from.empty() ? commits.to : commits.from + '-' + commits.to;
        return there_.files.contains(superblock) || there_.files.contains(index_path(commits.to)) ||
               there_.head("summary").find(name) != std::string::npos;
    }

    void replace_deltas() {
        std::vector<std::string> early;
        std::set<std::string> deltas;
        for (std::string& path : plan_.missing[UploadStep::superblocks]) {
            deltas.insert(path);
            if (there_.files.contains(path)) {
                plan_.replaced_superblocks.push_back(path);
            }
            (may_be_named(path) ? plan_.late_superblocks : early).push_back(path);
        }
        plan_.missing[UploadStep::superblocks] = std::move(early);
        if (deltas.empty() || remote_.has_hashes()) {
            return;
        }
        // Of a delta that is made anew, parts may have the same sizes.
        std::vector<std::string>& parts = plan_.missing[UploadStep::delta_parts];
        parts.clear();
        for (const auto& [path, size] : local_.files()) {
            if (step_of(path) == UploadStep::delta_parts &&
                (deltas.contains(superblock_of_part(path)) || !there_.files.contains(path) ||
                 there_.files.find(path)->second != size)) {
                parts.push_back(path);
            }
        }
    }

    void find_superfluous() {
        std::map<UploadStep, std::vector<std::string>> others;
        for (const auto& [path, size] : there_.files) {
            const std::optional<UploadStep> step = step_of(path);
            if (step && !local_.files().contains(path)) {
                others[*step].push_back(path);
            }
        }
        plan_.stale_summary = std::move(others[UploadStep::summary]);
        others.erase(UploadStep::summary);
        for (auto step = others.rbegin(); step != others.rend(); ++step) {
            std::ranges::move(step->second, std::back_inserter(plan_.superfluous));
        }
    }

    const PublishedState& local_;
    const RcloneRemote& remote_;
    const RemoteState& there_;
    bool verify_;
    UploadPlan plan_;
    std::map<UploadStep, std::vector<std::string>> doubtful_;
};

}  // namespace

bool UploadPlan::changes_heads() const {
    const auto has = [&](UploadStep step) {
        const auto found = missing.find(step);
        return found != missing.end() && !found->second.empty();
    };
    return has(UploadStep::refs) || has(UploadStep::summary) || !stale_summary.empty();
}

UploadPlan plan_upload(const PublishedState& local, const RcloneRemote& remote,
                       const RemoteState& there, bool verify) {
    return Comparing(local, remote, there, verify).plan();
}

}  // namespace edgegpu
