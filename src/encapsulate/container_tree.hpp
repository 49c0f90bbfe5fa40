#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "support/files/tar_writer.hpp"

namespace edgegpu {

/// A directory of a commit.
struct TreeDirectory {
    /// in the commit: "/usr/etc"
    std::string path;
    /// checksums of its dirtree and dirmeta
    std::string tree;
    std::string meta;
    TarAttributes attributes;
};

/// A file object of a commit with all of its paths.
struct ContentObject {
    bool symlink = false;
    /// bytes of a file, as the object's header says
    std::uint64_t size = 0;
    /// sorted, at least one
    std::vector<std::string> paths;
};

/// The tree of a commit.
struct ContainerTree {
    /// "/" first, parents before their children, in order of names
    std::vector<TreeDirectory> directories;
    /// checksum → object
    std::map<std::string, ContentObject> objects;
};

/// Reads all directories and the headers of all file objects. Throws Error for objects that are
/// missing or malformed, for trees of more than 200 levels or a million paths, for an ostree tree
/// with both /etc and /usr/etc, for names that container engines take for whiteouts (".wh."), and
/// ErrorKind::interrupted.
[[nodiscard]] ContainerTree read_container_tree(const Context& ctx, const CommitView& commit);

/// Where an image has a path of the commit. In ostree's container format, "etc/passwd" for
/// "/usr/etc/passwd", and empty for /sysroot and what is below it, where the repository is; an
/// image for snapshots has all paths as the commit has them. Empty for the root.
[[nodiscard]] std::string path_in_image(const std::string& path, UpdateSystem system);

}  // namespace edgegpu
