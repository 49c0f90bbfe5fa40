#include "repository/followed_ref.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Commits of a ref that are looked at; a history may be longer, or made to look so.
constexpr unsigned longest_history = 1000;

std::string without_remote(std::string_view ref) {
    return std::string(ref.substr(ref.find(':') + 1));
}

/// Whether the commit is one of those that the ref with commit `head` had before, as far as the
/// repository has them.
bool has_had(const RepositoryView& repository, std::string head, const std::string& checksum) {
    for (unsigned i = 0; i < longest_history && !head.empty(); ++i) {
        if (head == checksum) {
            return true;
        }
        try {
            head = repository.commit_at(head, head).info().parent;
        } catch (const Error&) {
            return false;  // pruned, or not pulled
        }
    }
    return false;
}

/// The only one of `refs`, or the only one that the commit is bound to; empty if there are none.
std::string choose(const std::set<std::string>& refs, const CommitInfo& commit) {
    if (refs.size() < 2) {
        return refs.empty() ? "" : *refs.begin();
    }
    std::vector<std::string> bound;
    std::ranges::copy_if(refs, std::back_inserter(bound), [&](const std::string& ref) {
        return std::ranges::find(commit.bound_refs, ref) != commit.bound_refs.end();
    });
    if (bound.size() == 1) {
        return bound.front();
    }
    throw error(ErrorKind::usage, "commit {} has several refs: {}, {}", commit.checksum,
                *refs.begin(), *std::next(refs.begin()))
        .hinted("name it by the ref that the device is to follow");
}

}  // namespace

std::string followed_ref(const RepositoryView& repository, const CommitView& commit) {
    std::string name = commit.info().name;
    while (name.ends_with('^')) {
        name.pop_back();
    }
    const std::map<std::string, std::string> refs = repository.refs();
    if (refs.contains(name)) {
        return without_remote(name);
    }
    std::set<std::string> current;
    std::set<std::string> former;
    for (const auto& [ref, head] : refs) {
        if (head == commit.info().checksum) {
            current.insert(without_remote(ref));
        } else if (has_had(repository, head, commit.info().checksum)) {
            former.insert(without_remote(ref));
        }
    }
    if (current.empty() && former.empty() && commit.info().bound_refs.size() == 1) {
        return commit.info().bound_refs.front();
    }
    return choose(current.empty() ? former : current, commit.info());
}

}  // namespace edgegpu
