#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "disk/ext4/ext4.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// A regular file or symlink of a commit: one object, whatever number of paths it has.
struct CommitFile {
    std::string checksum;
    /// the first of its paths
    std::string path;
    bool symlink = false;
    /// bytes of a regular file
    std::uint64_t size = 0;
    std::string target;
    /// `modified` is 0, the time that ostree gives to all files
    NodeAttributes attributes;
};

/// A directory of a commit, with everything below it.
struct CommitTree {
    NodeAttributes attributes;
    std::map<std::string, CommitTree, std::less<>> directories;
    /// name → position in CommitObjects::files
    std::map<std::string, std::size_t, std::less<>> files;

    /// The directory at a path without leading slash ("usr/lib/modules"), or nullptr.
    [[nodiscard]] const CommitTree* find(std::string_view path) const;
};

/// A commit, dirtree or dirmeta, or the detached metadata of a commit.
struct MetadataObject {
    std::string checksum;
    /// "commit", "commitmeta", "dirtree", "dirmeta"
    std::string extension;
    std::string content;
};

/// All objects of a commit. Whatever is read is compared with the checksum that names it.
class CommitObjects {
public:
    /// Reads all metadata objects and the headers of all file objects. Throws Error for objects
    /// that are missing or malformed.
    CommitObjects(const Context& ctx, const RepositoryView& repository, const CommitView& commit);

    [[nodiscard]] const CommitTree& root() const noexcept { return root_; }
    /// In the order of a walk through the tree, by name.
    [[nodiscard]] const std::vector<CommitFile>& files() const noexcept { return files_; }
    /// By checksum.
    [[nodiscard]] const std::vector<MetadataObject>& metadata() const noexcept { return metadata_; }

    /// A reader of a file's content. It throws Error, at the end at the latest, if the object does
    /// not have its checksum.
    [[nodiscard]] ContentReader open(const CommitFile& file) const;
    /// The whole content.
    [[nodiscard]] std::string read(const CommitFile& file) const;

private:
    struct Walk;
    [[nodiscard]] CommitTree walk(Walk& walk, const CommitNode& node, const std::string& path);
    void add_metadata(Walk& walk, OstreeObjectType type, const std::string& checksum,
                      const std::string& path);
    void read_header(CommitFile& file) const;
    [[nodiscard]] Error damaged(const CommitFile& file, std::string_view what) const;

    const RepositoryView& repository_;
    const CommitView& commit_;
    CommitTree root_;
    std::vector<CommitFile> files_;
    std::vector<MetadataObject> metadata_;
};

/// Owner, mode and attributes of an object, whose attributes are an `a(ayay)`.
[[nodiscard]] NodeAttributes node_attributes(const CommitPath& described, GVariant* attributes);

}  // namespace edgegpu
