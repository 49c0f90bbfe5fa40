#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "repository/tree_objects.hpp"

namespace edgegpu {

/// A regular file or a link of the new commit that the old one does not have.
struct NewFile {
    std::string checksum;
    /// the first path that has it
    std::string path;
    bool link = false;
    /// of its content in bytes
    std::uint64_t size = 0;
    /// as it is stored in the repository, which is what a client gets without a delta
    std::uint64_t stored = 0;
    /// checksum of the file of the old commit that is most like it, or empty
    std::string source;
    /// its path in the old commit, and the size of its content in bytes
    std::string source_path;
    std::uint64_t source_size = 0;
};

/// What a client that has the old commit lacks of the new one, but for the commit itself.
struct DeltaContent {
    /// in the order in which they go into a delta: files of one directory are alike, and equal ones
    /// (the package database is at two paths) come after each other
    std::vector<NewFile> files;
    std::vector<TreeObject> directories;
    /// of all of them, as they are stored
    std::uint64_t stored = 0;
};

/// What is behind the last slash.
[[nodiscard]] std::string_view base_name(std::string_view path);

/// Compares two commits, and finds for each new file the old one that it is made from: of the same
/// path; of the path that the old kernel has for it; of the path with other numbers in it
/// (libcuda.so.550.54 and .565.57); or of such a name in another directory, and then of the most
/// similar size. Throws Error for objects that are missing or malformed.
[[nodiscard]] DeltaContent compare_content(const Context& ctx, const CommitView& from,
                                           const CommitView& to);

}  // namespace edgegpu
