#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "repository/remote_config.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// An open ostree repository with a lock on one ref, so that two builds cannot write the same ref.
class Repo {
public:
    /// Opens the repository, or creates it (mode archive); removes what killed builds of `ref`
    /// left. Throws Error if it cannot be written or is not in archive mode, or if another build
    /// has locked `ref` (the message has its pid); ErrorKind::usage if `ref` is malformed.
    Repo(const Context& ctx, const std::filesystem::path& path, const std::string& ref);
    /// Opens a repository that exists for work on all of its refs, with a lock that only one holds.
    /// Waits for that; for the locks that are taken of the Repo afterwards (SharedLock), the rest
    /// of the time is left. The same errors, and ErrorKind::usage if there is none.
    [[nodiscard]] static Repo whole(const Context& ctx, const std::filesystem::path& path,
                                    const LockWait& wait = {});
    Repo(Repo&&) noexcept;
    Repo& operator=(Repo&&) noexcept;
    ~Repo();

    struct Impl;
    [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

private:
    explicit Repo(std::unique_ptr<Impl> impl) noexcept;

    std::unique_ptr<Impl> impl_;
};

/// The parent commit of a build.
struct Parent {
    std::string checksum;
    /// `edgegpu.inputs-digest` of its metadata, or empty
    std::string inputs_digest;
    /// Unix time
    std::int64_t time = 0;
    std::string version;
    ParentAccounts accounts;
    /// Version of its package microshift ("4.18.14"), or empty.
    std::string microshift;
    /// Its /etc/microshift/config.yaml and the YAML files of config.d: path → content. Empty
    /// without that package.
    std::map<std::string, std::string> microshift_config;
    /// Why these files cannot be read, or empty: objects are missing, or they are more than 1024
    /// files and directories, 4 MiB, or 32 directories in each other.
    std::string microshift_config_problem;
    /// The keys with which its devices verify what they pull (/etc/pki/edgegpu): path → content;
    /// empty if they cannot be read.
    std::map<std::string, std::string> device_keys;
    /// The remotes in its /etc/ostree/remotes.d; none if they cannot be read.
    std::vector<RemoteConfig> remotes;
};

/// The parent commit: the one that `[ostree] parent` names, else that of the ref, else one of this
/// ref that was pulled from a remote; nothing for a new ref. If an earlier build has not updated
/// the summary, it is generated now and signed by `signer`; if that fails, it is a warning. Throws
/// ErrorKind::usage if `[ostree] parent` does not exist, Error if the commit cannot be read.
[[nodiscard]] std::optional<Parent> read_parent(const Context& ctx, const Repo& repo,
                                                const OstreeRequest& ostree, Signer& signer);

/// The files of a commit below the directories in which MicroShift looks for manifests
/// (/etc/microshift and /usr/lib/microshift, there "manifests" and "manifests.d"): path on a device
/// → content. Links are left out. Throws Error for what cannot be read, for more than 8192 files
/// and directories or 64 MiB, and for more than 32 directories in each other.
[[nodiscard]] std::map<std::string, std::string> read_manifests(const Repo& repo,
                                                                const std::string& checksum);

/// A finished commit.
struct Commit {
    std::string ref;
    std::string checksum;
    /// The ref had this commit before: nothing was written, and only `ref`, `checksum` and
    /// `version` are set.
    bool unchanged = false;
    /// checksum of the parent, or empty
    std::string parent;
    std::string version;
    /// number of files and links; uncompressed bytes of the files
    std::uint64_t files = 0;
    std::uint64_t size = 0;
    /// objects that were added to the repository, and their bytes
    std::uint64_t new_objects = 0;
    std::uint64_t new_bytes = 0;
    bool is_signed = false;
};

/// The commit that the ref has, if a build with these inputs would make nothing else: it was made
/// with them by a build with this parent, or a later build found that they make the same image. A
/// commit of the ref that was only pulled so far becomes the ref's; one without a signature is
/// signed if the blueprint names a key. Nothing if there is something to build. Throws Error.
[[nodiscard]] std::optional<Commit> find_unchanged(const Context& ctx, const Blueprint& blueprint,
                                                   const Repo& repo,
                                                   const std::optional<Parent>& parent,
                                                   const std::string& inputs_digest,
                                                   Signer& signer);

/// The time that a commit with this parent gets: that of the image, but later than that of the
/// parent and of the commit that the ref has. Unix time. Throws Error.
[[nodiscard]] std::int64_t time_of_commit(const Context& ctx, const Repo& repo,
                                          const std::optional<Parent>& parent);

/// Writes the objects (`.filez` from cached deflate streams, in parallel), then the commit with its
/// metadata, then the signature; finally sets the ref and updates the summary. `inputs_digest` is
/// part of the metadata; `signer` signs commit and summary if the blueprint names a key. If it is
/// killed at any time, the ref is the old or the new commit, and that is complete. Throws Error if
/// the ref has not been set: what cannot be done afterwards is a warning.
///
/// Nothing is written if the ref has a commit with the same parent, tree and metadata, except for
/// those that devices do not see.
///
/// With `max_upgrade_bytes`, Error is thrown, and the ref keeps its commit, if a device that has
/// the parent would download more bytes of objects for the new commit, as they are stored; not if
/// the ref keeps its commit anyway. Without a parent, a note says that nothing was compared.
///
/// Its time is `time_of_commit`: devices refuse an older commit as a downgrade (libostree,
/// _ostree_compare_timestamps), so that nobody can offer them an earlier one of the ref again.
[[nodiscard]] Commit write_commit(const Context& ctx, const Blueprint& blueprint,
                                  const Resolution& resolution, const Tree& tree, const Repo& repo,
                                  const std::optional<Parent>& parent,
                                  const std::string& inputs_digest, Signer& signer,
                                  std::optional<std::uint64_t> max_upgrade_bytes = std::nullopt);

}  // namespace edgegpu
