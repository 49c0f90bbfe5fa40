#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/stored_file.hpp"

namespace edgegpu {

enum class MemberType { directory, file, symlink };

/// An object of a directory of the builder, as the build took it.
struct StoredMember {
    /// relative to the directory: "etc/motd"
    std::string name;
    MemberType type = MemberType::directory;
    /// files: its owner may run it
    bool executable = false;
    /// files: it had set-id bits or capabilities
    bool privileged = false;
    /// symlinks: the target
    std::string target;
    /// files: the copy
    StoredFile content;
};

/// A directory or an archive of the builder, as the build took it.
struct StoredSource {
    /// of an archive: the copy
    std::optional<StoredFile> archive;
    /// of a directory: each directory before what is in it, in order of their names
    std::vector<StoredMember> members;
};

/// Directory in a build's slot with the copies of files whose names count, each under its own
/// absolute path: "work/0/edgegpu-inputs/home/user/selinux/x.te".
inline constexpr std::string_view named_inputs = "edgegpu-inputs";

/// The user's path of such a copy ("/home/user/selinux/x.te"), to be shown; others as they are.
[[nodiscard]] std::filesystem::path path_of_user(const std::filesystem::path& path);

}  // namespace edgegpu
