#include <string>
#include <string_view>
#include <vector>

#include "commit/commit.hpp"
#include "commit/repository.hpp"

namespace edgegpu {

namespace {

/// The device's own by their nature: accounts, which a unit adds (customise/accounts), the cache of
/// ldconfig, which is made at boot.
bool is_expected(std::string_view path) {
    for (const std::string_view name :
         {"/etc/group", "/etc/gshadow", "/etc/ld.so.cache", "/etc/passwd", "/etc/shadow",
          "/etc/subgid", "/etc/subuid"}) {
        if (path == name) {
            return true;
        }
    }
    return false;
}

/// Two commits whose files are compared.
struct CommitPair {
    const CommitView& before;
    const CommitView& after;
};

// NOLINTNEXTLINE(misc-no-recursion): trees of a repository are finite, and were written by a build
void collect_changed(const CommitPair& commits, const CommitNode& before, const CommitNode& after,
                     const std::string& path, std::vector<std::string>& changed) {
    if (before == after) {
        return;
    }
    if (!before.directory || !after.directory) {
        if (!is_expected(path)) {
            changed.push_back(path);
        }
        return;
    }
    const CommitDirectory now = commits.after.list(after, path);
    for (const auto& [name, node] : commits.before.list(before, path)) {
        const std::string child = path + '/' + name;
        if (const auto found = now.find(name); found != now.end()) {
            collect_changed(commits, node, found->second, child, changed);
        } else if (!is_expected(child)) {
            changed.push_back(child);
        }
    }
}

}  // namespace

std::vector<std::string> changed_configuration(const Repo& repo, const std::string& before,
                                               const std::string& after) {
    const RepositoryView view = repo.impl().view();
    const CommitView old = view.commit_at(before, before);
    const CommitView young = view.commit_at(after, after);
    const auto one = old.find("/etc");
    const auto other = young.find("/etc");
    std::vector<std::string> changed;
    if (one && other) {
        collect_changed({old, young}, *one, *other, "/etc", changed);
    }
    return changed;
}

}  // namespace edgegpu
