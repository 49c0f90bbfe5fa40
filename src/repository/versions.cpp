#include "repository/versions.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// By checksum.
using Commits = std::unordered_map<std::string_view, const CommitView*>;

/// The checksums of a commit and of those before it, as far as they are among `commits`.
std::set<std::string> history_of(std::string checksum, const Commits& commits) {
    std::set<std::string> history;
    while (!checksum.empty() && history.insert(checksum).second) {
        const auto found = commits.find(checksum);
        checksum = found == commits.end() ? std::string() : found->second->info().parent;
    }
    return history;
}

}  // namespace

std::vector<CommitView> complete_commits(const RepositoryView& repository) {
    std::vector<CommitView> commits;
    for (const std::string& checksum : repository.commits()) {
        try {
            commits.push_back(repository.commit_at(checksum, checksum));
        } catch (const Error&) {
            // What an interrupted pull or prune left; no device has got it from here.
        }
    }
    return commits;
}

std::vector<const CommitView*> versions_of_ref(const std::string& ref, const std::string& head,
                                               const std::vector<CommitView>& commits) {
    Commits known;
    for (const CommitView& commit : commits) {
        known.emplace(commit.info().checksum, &commit);
    }
    const auto newest = known.find(head);
    if (newest == known.end()) {
        return {};
    }
    const std::string name = ref.substr(ref.find(':') + 1);
    const std::set<std::string> history = history_of(head, known);
    std::vector<const CommitView*> versions;
    for (const CommitView& commit : commits) {
        const CommitInfo& info = commit.info();
        const bool bound = std::ranges::find(info.bound_refs, name) != info.bound_refs.end();
        if (info.time <= newest->second->info().time &&
            (bound || history.contains(info.checksum))) {
            versions.push_back(&commit);
        }
    }
    std::ranges::sort(versions, [&](const CommitView* one, const CommitView* other) {
        const auto rank = [&](const CommitView* version) {
            const CommitInfo& info = version->info();
            return std::tuple(info.checksum == head, info.time, info.checksum);
        };
        return rank(one) > rank(other);
    });
    return versions;
}

}  // namespace edgegpu
