#pragma once

#include <filesystem>
#include <string>

#include <sys/stat.h>

namespace edgegpu {

/// Who besides its owner and root may write to a file or directory, or to what others make in it.
enum class OtherWriters {
    none,
    /// the members of its group
    group,
    /// users or groups that an access control list names; a directory's default list counts, too
    listed,
    everybody
};

/// What `path` allows, which has `status` (lstat(2)); of several the last of the enumeration. With
/// an access control list, the permissions of the group in `status` are only the most that anybody
/// in the list has (acl(5)): the list says who has them. Throws Error if it cannot be read.
[[nodiscard]] OtherWriters other_writers(const std::filesystem::path& path,
                                         const struct stat& status);

/// Who else than this process's user can change the file or directory `path` itself (links are not
/// followed), by its owner, its permissions or an access control list: "belongs to alice", "can be
/// written by everybody", "can be written by group ci". Empty if nobody can, or nothing is there.
/// The user's private group, which has no other member, is nobody else. The sticky bit makes no
/// difference: it lets others add names.
[[nodiscard]] std::string foreign_access(const std::filesystem::path& path);

/// "alice", or "the user with id 1000" if it has no name.
[[nodiscard]] std::string name_of_user(uid_t user);

}  // namespace edgegpu
