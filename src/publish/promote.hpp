#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/deltas.hpp"
#include "publish/promotion.hpp"
#include "publish/release.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// What is promoted, and who says so.
struct PromoteRequest {
    /// the one that devices pull from
    std::filesystem::path repository;
    /// a ref, a checksum or the beginning of one, with any number of ^ appended
    std::string source;
    /// the ref that gets it
    std::string to;
    DeltaRequest deltas;
    std::string by;
    /// or empty
    std::string reason;
    /// of the ref `to`
    EndOfLife end;
    /// now: Unix time
    std::int64_t at = 0;
};

/// What devices download that have the ref's last commit, without a delta.
struct DeviceDownload {
    std::size_t objects = 0;
    /// as they are stored
    std::uint64_t bytes = 0;
};

/// A promotion, or what one would be.
struct Promoted {
    /// Of a plan its commit has no checksum, unless it is the one that the ref has.
    PublishedRef ref;
    /// the commit whose tree it has
    CommitInfo source;
    /// version of the commit that the ref had, or empty
    std::string before_version;
    /// what the new commit says, or the one that the ref keeps
    ChannelRecord record;
    /// the image is older than the one that the ref had
    bool going_back = false;
    /// of a plan, if it is known
    std::optional<DeviceDownload> download;
};

/// Gives a ref of a repository the tree that another ref or commit of it has: writes a commit that
/// is bound to the ref, has the ref's last one as parent and is later than that, signs it if
/// `signer` signs commits, and then does what finish_releases does. If the ref has that tree from
/// that commit already, no commit is written. A client may read at any instant, and the call be
/// killed at any instant: the next one goes on.
///
/// Throws Error before anything is written for a source that is not whole (contents are not read)
/// or has no signature by a key of the image or of the one that the ref's devices run, if these
/// verify any; and for what such devices would refuse. ErrorKind::usage for a ref that cannot be.
[[nodiscard]] Promoted promote(const Context& ctx, Stages& stages, const PromoteRequest& request,
                               Signer& signer);

/// What `promote` would do. Writes nothing, and takes no lock.
[[nodiscard]] Promoted plan_promotion(const Context& ctx, Stages& stages,
                                      const PromoteRequest& request, Signer& signer);

}  // namespace edgegpu
