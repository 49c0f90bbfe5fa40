#pragma once

#include <string>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// The ref that a device with this commit follows: the one that the commit was named by, with or
/// without ^, or the only one that has it; without the name of a remote. Empty if there is none.
/// Throws ErrorKind::usage if several have it.
[[nodiscard]] std::string followed_ref(const RepositoryView& repository, const CommitView& commit);

}  // namespace edgegpu
