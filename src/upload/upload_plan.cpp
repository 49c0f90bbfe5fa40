#include "upload/upload_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "delta/static_delta.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Whether the file is one of RemoteState::heads.
bool is_head(UploadStep step) {
    return step >= UploadStep::config;
}

class Comparing {
public:
    Comparing(const Context& ctx, const PublishedState& local, const RcloneRemote& remote,
              const RemoteState& there, bool verify)
        : local_(local), remote_(remote), there_(there), verify_(verify) {
        find_proved(ctx);
    }

    UploadPlan plan() {
        for (const auto& [path, size] : local_.files()) {
            compare(path, size, step_of(path).value());
        }
        for (const auto& [how, paths] : doubtful_) {
            for (std::string& path : remote_.differing(how.first, paths, how.second)) {
                plan_.missing[step_of(path).value()].push_back(std::move(path));
            }
        }
        find_wrong_headers();
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
        } else if (verify_ || !is_immutable(step) || is_unproved(path)) {
            const bool large = step == UploadStep::contents || step == UploadStep::delta_parts;
            const Comparison how = large && !verify_ ? Comparison::known : Comparison::content;
            doubtful_[{local_.directory_of(step), how}].push_back(path);
        }
    }

    /// Somebody may have copied files there in another way, or changed their headers: caches would
    /// keep a summary for too long, or objects not at all. It takes a request for each file.
    void find_wrong_headers() {
        std::set<std::string> sent;
        for (const auto& [step, paths] : plan_.missing) {
            sent.insert(paths.begin(), paths.end());
        }
        std::vector<std::string> names;
        for (const auto& [path, size] : local_.files()) {
            if ((verify_ || is_head(step_of(path).value())) && there_.files.contains(path) &&
                !sent.contains(path)) {
                names.push_back(path);
            }
        }
        for (const auto& [path, header] : remote_.cache_control(names)) {
            const std::optional<UploadStep> step = step_of(path);
            if (step && local_.files().contains(path) && header != cache_control_of(*step)) {
                plan_.missing[*step].push_back(path);
                ++plan_.wrong_headers;
            }
        }
    }

    /// What refs there need was compared before they were set.
    void find_proved(const Context& ctx) {
        for (const auto& [path, content] : there_.heads) {
            const std::string commit(trim_end(content));
            if (step_of(path) == UploadStep::refs && is_sha256(commit) &&
                local_.has_commit(commit)) {
                try {
                    proved_.merge(local_.objects_of(ctx, commit, commit));
                } catch (const Error& problem) {
                    // It has been pruned here, more or less.
                    if (problem.kind() == ErrorKind::interrupted) {
                        throw;
                    }
                }
            }
        }
    }

    [[nodiscard]] bool is_unproved(const std::string& path) const {
        return local_.needed().contains(path) && !proved_.contains(path);
    }

    /// Whether what clients have read before may name this superblock.
    [[nodiscard]] bool may_be_named(const std::string& superblock) const {
        const DeltaCommits commits = commits_of_delta(superblock);
        const std::string name =
            commits.from.empty() ? commits.to : commits.from + '-' + commits.to;
        return commits.to.empty() || there_.files.contains(superblock) ||
               there_.files.contains(index_path(commits.to)) ||
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
    std::set<std::string> proved_;
    std::map<std::pair<std::filesystem::path, Comparison>, std::vector<std::string>> doubtful_;
};

}  // namespace

bool UploadPlan::changes_heads() const {
    const auto has = [&](UploadStep step) {
        const auto found = missing.find(step);
        return found != missing.end() && !found->second.empty();
    };
    return has(UploadStep::refs) || has(UploadStep::summary) || !stale_summary.empty();
}

UploadPlan plan_upload(const Context& ctx, const PublishedState& local, const RcloneRemote& remote,
                       const RemoteState& there, bool verify) {
    return Comparing(ctx, local, remote, there, verify).plan();
}

}  // namespace edgegpu
