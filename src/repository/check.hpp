#pragma once

#include <string>

namespace edgegpu {

/// Looks at everything in a repository that libostree or edgegpu opens by its name: the files
/// `config`, `.lock`, `summary`, `summary.sig` and those of the refs, the directories `objects`
/// with the 256 in it, `refs`, `tmp` and the like, and static deltas. libostree follows links
/// there, waits for fifos, reads files of any size into memory, and aborts where a directory cannot
/// be made. `repository` is the open directory, `shown` its path. Throws Error naming the path if
/// one of them is not what it has to be. A link is accepted only below refs, as the alias of a ref.
/// Objects are not looked at: who reads one sees what it is.
void check_repository(int repository, const std::string& shown);

/// How others may write to a repository.
enum class Sharing {
    /// not at all
    none,
    /// the members of its directory's group may
    group
};

/// Looks at the same directories and files before something is written: whether somebody else than
/// the caller and root could put other things there, now or later. The group may, if the directory
/// itself is writable for it, and belongs to the caller or the caller to the group. Nobody may by
/// an access control list. Throws Error naming the path, who can write to it, and the way out.
[[nodiscard]] Sharing check_writers(int repository, const std::string& shown);

}  // namespace edgegpu
