#pragma once

#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// A summary as libostree writes it for an archive repository that has these commits as refs
/// (CommitInfo::name), and no deltas. Its time is that of the newest commit, so that the same
/// commits give the same bytes. `collection` is the repository's, or empty.
[[nodiscard]] std::string summary_of(const std::vector<const CommitView*>& commits,
                                     const std::string& collection);

}  // namespace edgegpu
