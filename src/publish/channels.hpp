#pragma once

#include <string>
#include <vector>

#include "publish/promotion.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// A commit that a ref has, or had.
struct ChannelCommit {
    /// Checksum, parent, time and version; if it could not be read, only its checksum.
    CommitInfo commit;
    ChannelRecord record;
    /// its image is older than that of the commit before it
    bool going_back = false;
    /// why it could not be read, or empty
    std::string problem;
};

/// A ref and what it has.
struct ReleaseChannel {
    std::string ref;
    ChannelCommit head;
    /// the other refs with the same tree
    std::vector<std::string> same;
    /// checksum of its rollout plan, or empty
    std::string plan;
};

/// All refs of a repository, by their names, but those of rollout plans. A commit that cannot be
/// read hides no others.
[[nodiscard]] std::vector<ReleaseChannel> list_channels(const RepositoryView& repository);

/// What a ref has had.
struct ChannelHistory {
    /// the newest first, as far as the repository has them
    std::vector<ChannelCommit> commits;
    /// checksum of the commit before them, which the repository has not; or empty
    std::string earlier;
};

/// The commits that `ref` has had, along their parents. Throws ErrorKind::usage if there is no such
/// ref.
[[nodiscard]] ChannelHistory history_of_channel(const RepositoryView& repository,
                                                const std::string& ref);

}  // namespace edgegpu
