#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "upload/contents.hpp"
#include "upload/published_state.hpp"
#include "upload/rclone.hpp"
#include "upload/remote_state.hpp"

namespace edgegpu {

/// What an upload has to do.
struct UploadPlan {
    /// files that the remote lacks or has otherwise, by step
    std::map<UploadStep, std::vector<std::string>> missing;
    /// Superblocks that the remote's summary or index may name with another digest, which clients
    /// would not take: uploaded behind the new summary. Until then clients get objects.
    std::vector<std::string> late_superblocks;
    /// Those of them that are there: removed before their parts are replaced.
    std::vector<std::string> replaced_superblocks;
    /// the summary or its signature, which the repository does not have any more
    std::vector<std::string> stale_summary;
    /// what else the repository does not have any more, in the order in which it may be removed
    std::vector<std::string> superfluous;

    /// how many of `missing` are there, but with another Cache-Control
    std::size_t wrong_headers = 0;

    /// Whether clients will see another version than they have seen.
    [[nodiscard]] bool changes_heads() const;
};

/// Compares the two: by sizes; by contents where these may change under a name, and where the refs
/// need what no ref there needs, since an upload may have been interrupted before it was compared;
/// with `verify`, all by contents. Where the server tells, also the headers of what clients go by,
/// and with `verify` of all.
[[nodiscard]] UploadPlan plan_upload(const Context& ctx, const PublishedState& local,
                                     const RcloneRemote& remote, const RemoteState& there,
                                     bool verify);

}  // namespace edgegpu
