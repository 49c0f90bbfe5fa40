#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/prune_plan.hpp"
#include "publish/retention_record.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Removes from a published repository what is no version to keep, once that has been so for the
/// grace: first the summary's names for it, then superblocks and parts of deltas, commits, what is
/// below them, from the top. Clients may read at any instant, and the call be killed at any
/// instant: what a commit needs is there as long as the commit is. Nobody else writes to the
/// repository meanwhile (ExclusiveLock).
///
/// `announce` gets the plan before anything is done about it; with `dry_run`, that is all. Throws
/// Error; ErrorKind::usage before anything is removed if the summary would lose its signature.
PrunePlan prune(const Context& ctx, Stages& stages, const PruneRequest& request, Signer& signer,
                const std::function<void(const PrunePlan&)>& announce);

/// Adds commits (as RepositoryView::open finds them) to those that are never removed, and takes
/// others out; those can be checksums of commits that are gone. Returns what is pinned then. Throws
/// ErrorKind::usage for a commit that is not there or not pinned. Waits for locks as prune does.
[[nodiscard]] RetentionRecord change_pins(const Context& ctx,
                                          const std::filesystem::path& repository,
                                          const std::vector<std::string>& pin,
                                          const std::vector<std::string>& unpin,
                                          const LockWait& wait);

}  // namespace edgegpu
