#pragma once

#include <filesystem>
#include <string>

namespace edgegpu {

/// Who else than this process's user can change the file or directory `path` itself (links are not
/// followed), by its owner, its permissions or an access control list: "belongs to alice", "can be
/// written by everybody", "can be written by group ci". Empty if nobody can, or nothing is there.
/// The user's private group, which has no other member, is nobody else. The sticky bit makes no
/// difference: it lets others add names.
[[nodiscard]] std::string foreign_access(const std::filesystem::path& path);

}  // namespace edgegpu
