#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgegpu {

/// A file, directory or symbolic link of one machine, which a disk has in /etc or /var of its
/// deployment and the commit does not. Its label is the one that the image's policy has for the
/// path.
struct Injected {
    enum class Type { file, directory, symlink };
    Type type = Type::file;
    /// absolute and normalised, below /etc or /var
    std::string path;
    /// content of a file, or target of a symlink
    std::string content;
    /// permission bits (07777); not for symlinks
    unsigned mode = 0644;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

/// In the order in which they were given; a later one with the same path replaces an earlier one.
using Injection = std::vector<Injected>;

}  // namespace edgegpu
