#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/stored_file.hpp"

namespace edgegpu {

enum class MemberType { directory, file, symlink };

/// An object of a stored directory.
struct StoredMember {
    /// Relative to the directory: "etc/motd".
    std::string name;
    MemberType type = MemberType::directory;
    /// Files: executable by the owner.
    bool executable = false;
    /// Files: the original has set-id bits or capabilities.
    bool privileged = false;
    /// Symbolic links: the target.
    std::string target;
    /// Files: the copy.
    StoredFile content;
};

/// A copy of a directory or an archive of the build machine.
struct StoredSource {
    /// For an archive: the copy.
    std::optional<StoredFile> archive;
    /// For a directory: its objects in the order of `walk_source`.
    std::vector<StoredMember> members;
};

/// Directory in a build's slot with copies of files whose names matter, each under its absolute
/// path: "work/0/edgegpu-inputs/home/user/selinux/x.te".
inline constexpr std::string_view named_inputs = "edgegpu-inputs";

/// The user's path of such a copy ("/home/user/selinux/x.te"); other paths unchanged.
[[nodiscard]] std::filesystem::path path_of_user(const std::filesystem::path& path);

}  // namespace edgegpu
