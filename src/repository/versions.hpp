#pragma once

#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// All commits of a repository that are complete and can be read, in no order. Throws Error.
[[nodiscard]] std::vector<CommitView> complete_commits(const RepositoryView& repository);

/// The versions of a ref among `commits` that devices may have, from the newest back: the commit
/// `head` that it has, and older ones that are its ancestors or were made for the ref. Not by their
/// parents alone: versions that were not published are missing among these. Newer ones have been
/// copied by a run that failed, or were taken back. Empty without `head`. `ref` may begin with the
/// name of a remote and a colon. They point into `commits`.
[[nodiscard]] std::vector<const CommitView*> versions_of_ref(
    const std::string& ref, const std::string& head, const std::vector<CommitView>& commits);

}  // namespace edgegpu
