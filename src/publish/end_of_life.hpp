#pragma once

#include "execution/context.hpp"
#include "publish/promotion.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Throws Error unless devices that run `promoted`, the last commit of its ref, or `image`, can go
/// on with the ref that its end names, if it names one: the repository has it, it does not lead
/// back, and its commit is signed by a key of `image`, made for that ref and its architecture, and
/// not older. ErrorKind::usage for a ref that is not there.
void require_end_of_life(const Context& ctx, const RepositoryView& repository,
                         const PromotedCommit& promoted, const CommitView& image);

}  // namespace edgegpu
