#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "image/tree.hpp"
#include "repository/commit_advisories.hpp"
#include "support/glib.hpp"
#include "support/text/nevra.hpp"
#include "support/update_system.hpp"

namespace edgegpu {

/// A container image that a commit has.
struct CommitImage {
    std::string name;
    /// "sha256:…"
    std::string digest;
    /// bytes of its layers, compressed
    std::uint64_t size = 0;
    bool operator==(const CommitImage&) const = default;
};

/// Bytes of the layers of all images; an image with several names counts once.
[[nodiscard]] std::uint64_t total_bytes(const std::vector<CommitImage>& images);

/// The key of `CommitInfo::update_system` in a commit's metadata, and what it says of
/// UpdateSystem::snapshots. Commits without it are for ostree.
inline constexpr const char* update_system_key = "edgegpu.update-system";
inline constexpr const char* snapshots_name = "transactional-update";

/// Checksum and metadata of a commit. Text comes from the repository and may contain control
/// characters.
struct CommitInfo {
    /// the argument with which it was opened: a ref or checksum
    std::string name;
    std::string checksum;
    /// checksum, or empty
    std::string parent;
    /// Unix time
    std::int64_t time = 0;
    std::string version;
    /// "uname -r" of the image, or empty
    std::string kernel;
    UpdateSystem update_system = UpdateSystem::ostree;
    /// version of the NVIDIA driver, or empty
    std::string driver;
    /// JSON text of the GPU software (gpu_health/stack.hpp), which may be damaged, or empty
    std::string gpu_stack;
    /// digest of everything that a build of edgegpu read, or empty
    std::string inputs_digest;
    /// digest of the container image that an import made it of ("sha256:…"), or empty
    /// (`ostree.manifest-digest`)
    std::string manifest_digest;
    /// refs that it was made for (`ostree.ref-binding`); clients take it for no other
    std::vector<std::string> bound_refs;
    /// the collection that it was made for (`ostree.collection-binding`), or empty
    std::string collection;
    /// in order; nothing if the metadata do not have them
    std::optional<std::vector<std::string>> kernel_arguments;
    /// of dracut, `rpmostree.initramfs-args`; none if the metadata do not have them
    std::vector<std::string> initramfs_arguments;
    /// in the order of the metadata; nothing if these do not have them
    std::optional<std::vector<Nevra>> packages;
    /// container images; none if the metadata do not have the list
    std::vector<CommitImage> images;
    /// in the order of the metadata; nothing if these do not have them
    std::optional<std::vector<CommitAdvisory>> advisories;
};

/// An entry of a directory of a commit. Equal nodes have equal content, recursively.
struct CommitNode {
    bool directory = false;
    /// checksum of the file object, or of the dirtree
    std::string checksum;
    /// directories: checksum of the dirmeta
    std::string meta;
    bool operator==(const CommitNode&) const = default;
};

/// Name → node in a directory. A name is never empty, "." or "..", and has no slash.
using CommitDirectory = std::map<std::string, CommitNode, std::less<>>;

/// The metadata of a path in a commit.
struct CommitPath {
    EntryType type = EntryType::file;
    /// checksum of the file object; empty for directories
    std::string checksum;
    /// size of a file's content in bytes
    std::uint64_t size = 0;
    /// permission bits (07777)
    unsigned mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// SELinux context, or empty
    std::string label;
    /// the other extended attributes, serialised for comparison
    std::string attributes;
    /// symlinks: the target
    std::string target;
};

/// Throws ErrorKind::usage for a commit that no ostree device can deploy: an image for snapshots.
void require_deployable(const CommitInfo& commit);

struct FileObject;

/// A commit, read object by object from the repository. The repository is untrusted: sizes, names
/// and structure are checked. Members throw Error, with commit and path, for objects that are
/// missing or malformed.
class CommitView {
public:
    /// `repository` and `name` are for messages. Throws Error for an incomplete commit.
    CommitView(RepoHandle repo, std::string repository, std::string name, std::string checksum);

    [[nodiscard]] const CommitInfo& info() const noexcept { return info_; }
    [[nodiscard]] const CommitNode& root() const noexcept { return root_; }
    /// The entries of a directory; `path` is for errors.
    [[nodiscard]] CommitDirectory list(const CommitNode& directory, std::string_view path) const;
    /// The node at an absolute path ("/usr/etc/passwd"; symlinks are not followed), or nothing.
    [[nodiscard]] std::optional<CommitNode> find(std::string_view path) const;
    /// The metadata of a node; `path` is for errors.
    [[nodiscard]] CommitPath describe(const CommitNode& node, std::string_view path) const;
    /// The metadata of the node at an absolute path, or nothing.
    [[nodiscard]] std::optional<CommitPath> describe(std::string_view path) const;
    /// The content of a regular file, or nothing if the path does not exist or is no file. Throws
    /// Error for more than `limit` bytes.
    [[nodiscard]] std::optional<std::string> read(std::string_view path, std::uint64_t limit) const;
    /// The same for a node; `path` is for errors.
    [[nodiscard]] std::optional<std::string> read(const CommitNode& node, std::string_view path,
                                                  std::uint64_t limit) const;
    /// The same for a file object that was loaded, whose stream is at its end then; empty for a
    /// link.
    [[nodiscard]] std::string read(const FileObject& object, std::string_view path,
                                   std::uint64_t limit) const;
    /// Size of a file object in the repository, which is what a device downloads, in bytes. `path`
    /// is for errors.
    [[nodiscard]] std::uint64_t stored_size(const std::string& object,
                                            std::string_view path = "a file") const;
    /// The same of a dirtree, a dirmeta or the commit; `path` is for errors.
    [[nodiscard]] std::uint64_t metadata_size(OstreeObjectType type, const std::string& checksum,
                                              std::string_view path) const;
    /// Whether `file` and `theirs`, a file of `other`, have the same content; `path` is for errors.
    [[nodiscard]] bool same_content(const CommitPath& file, const CommitView& other,
                                    const CommitPath& theirs, std::string_view path) const;

    /// A commit, dirtree or dirmeta of the commit, in normal form; `path` is for errors. The
    /// checksum has not been verified.
    [[nodiscard]] VariantHandle load(OstreeObjectType type, const std::string& checksum,
                                     std::string_view path) const;
    /// A file object of the commit; `path` is for errors. The checksum has not been verified.
    [[nodiscard]] FileObject load_file(const std::string& checksum, std::string_view path) const;
    /// The commit's detached metadata (signatures), a{sv}; null if there are none.
    [[nodiscard]] VariantHandle detached_metadata() const;
    /// The Error for an object that cannot be read.
    [[nodiscard]] Error unreadable(const GlibFailure& failure, const std::string& checksum,
                                   std::string_view path) const;
    /// The Error for an object that is not as it has to be: `what`.
    [[nodiscard]] Error malformed(std::string_view path, std::string_view what) const;

private:
    [[nodiscard]] CommitPath describe_directory(const CommitNode& node,
                                                std::string_view path) const;

    RepoHandle repo_;
    std::string repository_;
    CommitInfo info_;
    CommitNode root_;
};

/// The key of the OpenPGP signatures in detached metadata and in `summary.sig`, `aay` (libostree,
/// ostree-repo.c).
inline constexpr const char* signatures_key = "ostree.gpgsigs";

/// The OpenPGP signatures in detached metadata, which may be null: binary packets, not verified.
[[nodiscard]] std::vector<std::string> signatures_of(GVariant* metadata);
/// Those with another key than `signatures_key`.
[[nodiscard]] std::vector<std::string> signatures_of(GVariant* metadata, const char* key);
/// Whether it has signatures of either kind that edgegpu makes.
[[nodiscard]] bool has_signatures(GVariant* metadata);

/// An ostree repository of any mode, opened for reading.
class RepositoryView {
public:
    /// Throws ErrorKind::usage if it is not a repository, Error if it is a damaged one
    /// (check_repository).
    explicit RepositoryView(const std::filesystem::path& path);
    /// One that is open and was checked; `path` is for messages.
    RepositoryView(RepoHandle repo, std::string path)
        : path_(std::move(path)), repo_(std::move(repo)) {}

    /// Opens a commit by a ref, a checksum or the beginning of one (at least 4 digits), with any
    /// number of `^` appended for its parents. Throws ErrorKind::usage if there is no such commit
    /// or more than one, Error for an incomplete commit.
    [[nodiscard]] CommitView open(const std::string& name) const;
    /// The commit with this checksum, called `name` in messages. Throws Error for one that is
    /// missing or incomplete.
    [[nodiscard]] CommitView commit_at(const std::string& checksum, const std::string& name) const;
    /// All refs ("REMOTE:REF" for those of remotes) with the checksums of their commits.
    [[nodiscard]] std::map<std::string, std::string> refs() const;
    /// The checksums of all commits whose objects there are, sorted; whether they are complete is
    /// another question.
    [[nodiscard]] std::vector<std::string> commits() const { return commits_like(""); }
    /// Whether libostree has noted that a pull of this commit has not ended.
    [[nodiscard]] bool is_partial(const std::string& checksum) const;
    /// Throws Error if it has a parent: clients get nothing of what another repository has.
    void require_own_objects() const;
    /// The repository itself, for what reads objects as they are.
    [[nodiscard]] OstreeRepo* handle() const noexcept { return repo_.get(); }
    /// Its path, for messages.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

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
