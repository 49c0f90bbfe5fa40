#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// What a commit says of itself. Everything in here comes from the repository: it may hold
/// control characters.
struct CommitInfo {
    /// the ref or checksum that it was asked for
    std::string name;
    std::string checksum;
    /// checksum, or empty
    std::string parent;
    /// Unix time
    std::int64_t time = 0;
    std::string version;
    /// "uname -r" of the image, or empty
    std::string kernel;
    /// version of the NVIDIA driver, or empty
    std::string driver;
    /// in the boot loader's order; nothing where the commit does not say
    std::optional<std::vector<std::string>> kernel_arguments;
    /// as the commit lists them; nothing where it does not
    std::optional<std::vector<Nevra>> packages;
};

/// What a directory of a commit holds under one name. Equal nodes are equal all the way down.
struct CommitNode {
    bool directory = false;
    /// of the file object, or of the dirtree
    std::string checksum;
    /// directories: of the dirmeta
    std::string meta;
    bool operator==(const CommitNode&) const = default;
};

/// A directory's names and nodes. A name is never empty, ".", ".." or one with a slash.
using CommitDirectory = std::map<std::string, CommitNode, std::less<>>;

/// A path of a commit with all that its objects say but the content.
struct CommitPath {
    EntryType type = EntryType::file;
    /// of the file object; empty for directories
    std::string checksum;
    /// bytes of a file's content
    std::uint64_t size = 0;
    /// permission bits (07777)
    unsigned mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// SELinux context, or empty
    std::string label;
    /// the other extended attributes, serialised
    std::string attributes;
    /// symlinks
    std::string target;
};

/// A commit that is read where it lies, object by object. The repository is hostile: sizes, names
/// and structure are checked as they are read. Errors name commit and path.
class CommitView {
public:
    CommitView(RepoHandle repo, std::string repository, std::string name, std::string checksum);

    [[nodiscard]] const CommitInfo& info() const noexcept { return info_; }
    [[nodiscard]] const CommitNode& root() const noexcept { return root_; }
    /// The names in a directory; `path` is for errors.
    [[nodiscard]] CommitDirectory list(const CommitNode& directory, std::string_view path) const;
    /// The node at an absolute path ("/usr/etc/passwd"; symlinks are not followed), or nothing.
    [[nodiscard]] std::optional<CommitNode> find(std::string_view path) const;
    /// Reads the node's header; `path` is for errors.
    [[nodiscard]] CommitPath describe(const CommitNode& node, std::string_view path) const;
    /// `find` and `describe`.
    [[nodiscard]] std::optional<CommitPath> describe(std::string_view path) const;
    /// A regular file's content. Throws Error for more than `limit` bytes. Nothing where the path
    /// does not exist or is no file.
    [[nodiscard]] std::optional<std::string> read(std::string_view path, std::uint64_t limit) const;
    /// Bytes that the repository needs for a file object: what a device downloads for it.
    [[nodiscard]] std::uint64_t stored_size(const std::string& object) const;
    /// Whether two file objects (the other of `other`) have the same content.
    [[nodiscard]] bool same_content(const CommitPath& file, const CommitView& other,
                                    const CommitPath& theirs, std::string_view path) const;

private:
    [[nodiscard]] VariantHandle load(OstreeObjectType type, const std::string& checksum,
                                     std::string_view path) const;
    [[nodiscard]] Handle<GInputStream, g_object_unref> open(const std::string& object,
                                                            std::string_view path) const;
    [[nodiscard]] Error unreadable(const GlibFailure& failure, const std::string& checksum,
                                   std::string_view path) const;
    [[nodiscard]] Error malformed(std::string_view path, std::string_view what) const;
    [[nodiscard]] CommitPath describe_directory(const CommitNode& node,
                                                std::string_view path) const;

    RepoHandle repo_;
    std::string repository_;
    CommitInfo info_;
    CommitNode root_;
};

/// An ostree repository of any mode, opened for reading.
class RepositoryView {
public:
    /// Throws ErrorKind::usage where there is none.
    explicit RepositoryView(const std::filesystem::path& path);

    /// Opens the commit of a ref, a checksum or the beginning of one (4 digits at least), each
    /// with any number of `^` behind it for the parent. Throws ErrorKind::usage for what names
    /// nothing or more than one commit, Error for a commit that is not whole.
    [[nodiscard]] CommitView open(const std::string& name) const;
    /// Every ref ("REMOTE:REF" for those of remotes) and its commit.
    [[nodiscard]] std::map<std::string, std::string> refs() const;

private:
    [[nodiscard]] std::string resolve(const std::string& name) const;
    [[nodiscard]] std::string parent_of(const std::string& checksum, const std::string& name) const;
    [[nodiscard]] std::vector<std::string> commits_like(const std::string& prefix) const;
    [[nodiscard]] Error unknown(const std::string& name,
                                const std::map<std::string, std::string>& refs) const;

    std::string path_;
    RepoHandle repo_;
};

}  // namespace edgegpu
