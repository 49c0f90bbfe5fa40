#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/deltas.hpp"
#include "publish/promotion.hpp"
#include "publish/release.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Of a ref that is not there.
inline constexpr std::string_view no_commit = "none";

/// What is promoted, and who says so.
struct PromoteRequest {
    /// the one that devices pull from
    std::filesystem::path repository;
    /// a ref, a checksum or the beginning of one, with any number of ^ appended
    std::string source;
    /// the ref that gets it
    std::string to;
    /// The commit that `to` has to have, in hexadecimal, or `no_commit`: the ref must not be there;
    /// empty: whatever it has.
    std::string expected;
    DeltaRequest deltas;
    std::string by;
    /// or empty
    std::string reason;
    /// of the ref `to`
    EndOfLife end;
    /// now: Unix time
    std::int64_t at = 0;
    LockWait lock_wait = {};
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

/// A promotion, and the process that signs its commit; each ref has one of its own.
struct SignedPromotion {
    PromoteRequest request;
    Signer* signer = nullptr;
};

/// Gives refs of a repository (all requests name the same one) the trees that other refs or commits
/// of it have: writes for each a commit that is bound to the ref, has the ref's last one as parent
/// and is later than that, signs it if the signer signs commits, and then does what finish_releases
/// does, for all of them together: no ref is set before all commits are there, and none if one
/// cannot be. Sources are what they are before any of the refs is set. If a ref has that tree from
/// that commit already, no commit is written for it. A client may read at any instant, and the call
/// be killed at any instant: the next one goes on.
///
/// Throws Error before anything is written for a source that is not whole (contents are not read)
/// or has no signature by a key of the image or of the one that the ref's devices run, if these
/// verify any; for a ref that has another commit than `expected`, unless it has what this promotion
/// made of that one; and for what such devices would refuse. ErrorKind::usage for a ref that cannot
/// be, and for one that is named twice.
[[nodiscard]] std::vector<Promoted> promote(const Context& ctx, Stages& stages,
                                            const std::vector<SignedPromotion>& promotions);

/// What `promote` would do. Writes nothing, and takes no lock.
[[nodiscard]] std::vector<Promoted> plan_promotions(const Context& ctx, Stages& stages,
                                                    const std::vector<SignedPromotion>& promotions);

}  // namespace edgegpu
