#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "disk/commit_objects.hpp"
#include "disk/ext4/ext4.hpp"
#include "disk/image_labels.hpp"
#include "disk/injection.hpp"

namespace edgegpu {

/// A file or symlink that is to be written.
struct FileLeaf {
    NodeAttributes attributes;
    bool symlink = false;
    /// content, or target of a symlink
    std::string content;
    /// not null: the content is that of this file of the commit
    const CommitFile* source = nullptr;
};

/// A directory that is to be written, of files that are not objects of the repository: the
/// deployment's /etc, the stateroot's /var.
struct FileTree {
    NodeAttributes attributes;
    std::map<std::string, FileTree, std::less<>> directories;
    std::map<std::string, FileLeaf, std::less<>> files;
};

/// Copies a directory of a commit, as ostree copies /usr/etc to /etc: with all attributes. `time`
/// is that of the copies.
[[nodiscard]] FileTree copy_of(const CommitObjects& objects, const CommitTree& tree,
                               std::int64_t time);

/// What `ostree admin os-init` makes in /var, and the mark that it has its labels.
[[nodiscard]] FileTree initial_var(const ImageLabels& labels, std::int64_t time);

/// The directory at an absolute path, in `top`, which is the directory `top_path` ("/var"; empty:
/// the root). What is missing is made, with the labels of its places and mode 0755, or what such a
/// directory has by convention (/tmp, /var/roothome). Throws ErrorKind::usage, beginning with
/// `what`, for a component that is a file or a symlink.
[[nodiscard]] FileTree& directory_at(FileTree& top, std::string_view top_path,
                                     std::string_view path, std::string_view what,
                                     const ImageLabels& labels, std::int64_t time);

/// Puts what belongs to one machine into /etc and /var: parents that are missing are created, files
/// are replaced. Throws ErrorKind::usage for a path elsewhere, through a file or a symlink, for a
/// directory in the place of a file or the other way round.
void inject(const Injection& injection, const ImageLabels& labels, std::int64_t time, FileTree& etc,
            FileTree& var);

/// Writes the content of `tree` into `directory`. Throws Error.
void write_tree(Ext4Writer& writer, Inode directory, const FileTree& tree,
                const CommitObjects& objects);

/// A reader of `text`, which must outlive it.
[[nodiscard]] ContentReader reader_of(std::string_view text);

}  // namespace edgegpu
