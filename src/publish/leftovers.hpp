#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// Files of a repository that runs which were killed have left. Names are below the repository.
struct LeftoverFiles {
    /// in tmp/
    std::vector<std::string> temporary;
    /// "state/….commitpartial"
    std::vector<std::string> partial;
};

/// Those that have not been touched for `age` seconds and belong to no process of this machine that
/// runs. `now` is Unix time. Throws Error for a directory that cannot be read.
[[nodiscard]] LeftoverFiles list_leftovers(const RepositoryView& repository, std::int64_t now,
                                           std::int64_t age);

/// The name of the file of `edgegpu-locks/` whose lock the maker of this entry of tmp/ holds while
/// it runs; empty for one that is not edgegpu's.
[[nodiscard]] std::string lock_of_temporary(const std::string& name);

/// The commits that a repository has names for: those of its refs, of remotes ("REMOTE:REF") and of
/// mirrored collections ("COLLECTION:REF"), with their checksums. Throws Error.
[[nodiscard]] std::map<std::string, std::string> named_commits(const RepositoryView& repository);

/// Throws Error for a repository that is not in archive mode, or has a parent. `command` is what
/// cannot be done with it.
void require_archive(const RepositoryView& repository, const std::string& command);

}  // namespace edgegpu
