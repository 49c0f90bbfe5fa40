#pragma once

#include <optional>
#include <string>

#include "publish/promotion.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Throws Error unless devices that follow `ref` can go on with the ref that `end` names, if it
/// names one: the repository has it, it does not lead back, and its commit is not older than
/// `head`, what they have. ErrorKind::usage for a ref that is not there.
void require_end_of_life(const RepositoryView& repository, const std::string& ref,
                         const EndOfLife& end, const std::optional<CommitView>& head);

}  // namespace edgegpu
