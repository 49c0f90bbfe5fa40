#pragma once

#include <string>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// The ref that a device with this commit follows, without the name of a remote: the one that the
/// commit was named by, with or without ^, else the one that has it, else the one that had it, else
/// the one that it was made for (`ostree.ref-binding`). Of several, the one that it was made for.
/// Empty if there is none. Throws ErrorKind::usage if several are left.
[[nodiscard]] std::string followed_ref(const RepositoryView& repository, const CommitView& commit);

}  // namespace edgegpu
