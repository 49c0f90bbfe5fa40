#pragma once

#include <filesystem>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Makes the directory `lower` hold exactly `entries`, owner root: files are hard links to
/// their content (copies where the file system refuses more links), in parallel. What an earlier
/// build left there is kept where it is the same: `index` (a file beside it) says what that is, and
/// is gone while the directory is being changed, so that a killed build starts afresh.
void check_out(const Context& ctx, const Entries& entries, const std::filesystem::path& lower,
               const std::filesystem::path& index);

}  // namespace edgegpu
