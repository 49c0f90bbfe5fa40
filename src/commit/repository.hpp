#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/file_lock.hpp"
#include "commit/commit.hpp"
#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "repository/check.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The state of a Repo.
struct Repo::Impl {
    /// for messages
    std::filesystem::path path;
    /// The repository's directory, through which everything in it is opened: what was checked is
    /// what is used, even if another directory has its path by now.
    Fd directory;
    std::string ref;
    /// `ref` as a file name: "/" is "%2F". For a whole repository a name that no ref has, with an
    /// empty `ref`.
    std::string ref_file;
    RepoHandle ostree;
    /// on `edgegpu-locks/<ref_file>.lock`
    std::optional<FileLock> lock;
    /// how long that was waited for, by Repo::whole
    std::chrono::seconds waited{0};
    /// checksum of the ref's commit when the lock was taken, or empty
    std::string ref_at_start;
    /// `[core] fsync` of the repository
    bool fsync = true;
    Sharing sharing = Sharing::none;

    /// The path of `name` in the repository, for what takes no descriptor.
    [[nodiscard]] std::filesystem::path place(std::string_view name) const;
    /// The same for messages.
    [[nodiscard]] std::string shown(std::string_view name) const;
    /// Opens a directory of the repository, not through links. Throws Error.
    [[nodiscard]] Fd open_directory(const std::string& name) const;
    /// Creates a directory of the repository if it is absent, readable for a web server, and where
    /// the repository is shared, writable for its group. Throws Error; `name` is relative.
    void make_directory(const std::string& name) const;
    /// The same below an open directory, which `shown` is for messages.
    void make_directory_at(int parent, const std::string& name, const std::string& shown) const;
    /// Creates a file to be locked if it is absent; only those who build can open it, as others
    /// could lock it as well. Throws Error if it cannot be written to.
    void make_lock_file(const std::string& name) const;
    /// The repository as a reader sees it.
    [[nodiscard]] RepositoryView view() const;

    /// `<ref_file>.summary` in `edgegpu-locks`: exists from before the ref is set until the summary
    /// is updated.
    [[nodiscard]] std::string summary_marker() const { return ref_file + ".summary"; }
    /// `<ref_file>.inputs` in `edgegpu-locks`: other inputs that make the ref's commit (head.hpp).
    [[nodiscard]] std::string inputs_record() const { return ref_file + ".inputs"; }
    /// Name of this build's staging directory in `tmp/`.
    [[nodiscard]] std::string staging_name() const;
    /// Whether `name` is that of a staging directory of this ref: "edgegpu-REF@PID", also with
    /// ".summary" or ".delta" behind it, of earlier versions "edgegpu-REF-PID". Other refs may
    /// begin like this one, but none contains an "@", and behind the last "-" there is always the
    /// process.
    [[nodiscard]] bool is_staging(std::string_view name) const;
};

/// What `tmp/` has for a new summary ends with it, and what it has for a delta.
inline constexpr std::string_view summary_suffix = ".summary";
inline constexpr std::string_view delta_suffix = ".delta";

/// Locks of the repository, files that builds of all refs share, and what is in progress.
inline constexpr const char* locks_directory = "edgegpu-locks";

/// Throws ErrorKind::usage for what cannot be a ref of a repository, or is too long for one.
void require_ref_name(const std::string& ref);

/// Throws Error for a ref that cannot be set in a repository, whose directory is open: it is an
/// alias, or another one is in its place.
void require_place_of_ref(int repository, const std::filesystem::path& path,
                          const std::string& ref);

/// The checksum of the commit that the ref `name` denotes; empty: there is none. The repository's
/// own refs come first, then those that were pulled from a remote. Throws ErrorKind::usage if
/// several remotes have it, with different commits.
[[nodiscard]] std::string find_commit(const Repo::Impl& repo, const std::string& name);

/// libostree's lock of a repository, which all its writers take. What one process takes more than
/// once, for one open repository, is as strong as the strongest of them.
class RepositoryLock {
public:
    /// Waits for it, see wait_until_unlocked. `repo` must outlive it; with null, nothing is locked.
    /// `shown` is its path for messages. Throws Error.
    RepositoryLock(const Context& ctx, OstreeRepo* repo, const std::string& shown,
                   OstreeRepoLockType type, const LockWait& wait = {});
    RepositoryLock(const RepositoryLock&) = delete;
    RepositoryLock& operator=(const RepositoryLock&) = delete;
    ~RepositoryLock();

private:
    OstreeRepo* repo_;
    OstreeRepoLockType type_;
};

/// Keeps `edgegpu prune` and `ostree prune` from removing objects that no ref reaches yet, as long
/// as it exists.
class SharedLock : public RepositoryLock {
public:
    /// Waits for it; what Repo::whole has waited is no part of `wait` any more. Throws Error.
    SharedLock(const Context& ctx, const Repo::Impl& repo, const LockWait& wait = {});
    /// The same for a reader: none if the lock's file cannot be opened, as that of somebody else's
    /// repository, or is not there.
    SharedLock(const Context& ctx, const RepositoryView& repository, const LockWait& wait = {});
};

/// The lock for whoever removes objects: nobody has a SharedLock while it exists. What its holder
/// calls may take a SharedLock.
class ExclusiveLock : public RepositoryLock {
public:
    /// Waits for it as SharedLock does. Throws Error, also for a repository whose config switches
    /// locks off.
    ExclusiveLock(const Context& ctx, const Repo::Impl& repo, const LockWait& wait = {});
};

/// Leaves the summary's marker: from before something changes that the summary names until it is
/// updated. `checksum` is the commit's that is being written.
void leave_summary_marker(const Repo::Impl& repo, const std::string& checksum);

/// Whether a process is between a ref and the summary of a repository, whose directory is open: one
/// of this machine that has left the summary's marker and runs. If its lock cannot be read, the
/// marker alone counts.
[[nodiscard]] bool is_summary_under_way(int repository);

/// Sets the ref to `checksum`, and leaves the summary's marker. From then on a build has succeeded,
/// whatever else fails. Throws Error if another process moved the ref since it was locked.
void set_ref(const Repo::Impl& repo, const std::string& checksum);

/// The content of a file of the repository, not through links; empty if there is none. Throws
/// Error.
[[nodiscard]] std::string content_of(const Repo::Impl& repo, const std::string& name);

/// A new directory in `tmp/`, removed on destruction with what is in it; if its process is killed,
/// by the next writer of the ref.
class ScratchDirectory {
public:
    /// `suffix` is one that `is_staging` knows, or empty. What has its name is removed.
    ScratchDirectory(const Repo::Impl& repo, std::string_view suffix);
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    /// Its descriptor.
    [[nodiscard]] int get() const noexcept { return directory_.get(); }
    [[nodiscard]] const Fd& fd() const noexcept { return directory_; }
    /// Gives it the name `name` in the open directory `place`. False, with errno, if that is not
    /// possible.
    [[nodiscard]] bool move_to(const Fd& place, const std::string& name) const noexcept;
    /// The path of `name` in it for messages; its own if that is empty.
    [[nodiscard]] std::string shown(std::string_view name) const;

private:
    const Repo::Impl& repo_;
    std::string name_;
    Fd tmp_;
    Fd directory_;
};

/// New objects: written to a directory in `tmp/`, made durable together, then moved to `objects/`.
/// The directory is removed on destruction.
class Staging {
public:
    explicit Staging(const Repo::Impl& repo);

    /// Whether the repository has this object (`object_path`). An empty file, left by a power
    /// failure, does not count. Throws Error for anything but a file.
    [[nodiscard]] bool repository_has(const std::string& object) const;
    /// The size of an object that is staged, or else in the repository, in bytes. Throws Error if
    /// it is neither.
    [[nodiscard]] std::uint64_t size_of(const std::string& object) const;
    /// Creates a file for `object` (`object_path`), mode 0644, to be filled with `write`.
    /// Thread-safe.
    [[nodiscard]] Fd create(const std::string& object) const;
    /// Appends to such a file. Throws Error; a full disk has its own message.
    void write(const Fd& file, std::string_view bytes) const;
    /// Creates and writes an object.
    void put(const std::string& object, std::string_view bytes) const;
    /// Makes the staged `objects` durable, moves them into place, and makes that durable, unless
    /// the repository has `[core] fsync=false`.
    void publish(const std::vector<std::string>& objects) const;

private:
    void sync_all() const;
    // fsync(2) of `name` below the staging directory (`staged`) or below `objects/`.
    void sync_one(const std::string& name, bool staged) const;

    const Repo::Impl& repo_;
    ScratchDirectory directory_;
    Fd objects_;
};

/// Makes the summary anew, signs it if there is a key, and removes the marker, and those
/// of refs whose writers were killed. A client finds the
/// old summary with its signature or the new one with its own, but for the moment between two
/// renames. Waits for other builds that do the same for other refs of the repository. Throws Error,
/// interrupted if `ctx` is cancelled meanwhile; the marker is there then.
///
/// Neither the summary nor the indexes of deltas name those deltas whose directories ("deltas/…")
/// are in `without`.
void update_summary(const Context& ctx, const Repo::Impl& repo, Signer& signer,
                    const std::set<std::string>& without = {});

/// Removes the marker that `set_ref` left, once the summary has the ref.
void forget_summary_marker(const Repo::Impl& repo);

/// The detached metadata that the commit `checksum` is to have: `detached`, or what it has already
/// if that has a signature, or `detached` is null; and new signatures by the keys that the
/// blueprint names, if it names some, instead of older ones by them. Null if there is nothing to
/// write. `object` are the bytes of the commit object.
[[nodiscard]] VariantHandle signed_metadata(const Repo::Impl& repo, Signer& signer,
                                            const std::string& checksum, std::string_view object,
                                            GVariant* detached);
/// The issuer (key id) of an OpenPGP signature; empty if it has none.
[[nodiscard]] std::string issuer_of(std::string_view signature);
/// What `sign` returns; its errors get the path of the repository.
[[nodiscard]] Signatures signatures_for(const Repo::Impl& repo,
                                        const std::function<Signatures()>& sign);
/// `metadata`, an a{sv} that may be null, with `made` in its lists of signatures: instead of an
/// older one by the same GPG key, and beside those of all others.
[[nodiscard]] VariantHandle with_signatures(GVariant* metadata, const Signatures& made);
/// Writes the detached metadata of a commit.
void write_detached(const Repo::Impl& repo, const std::string& checksum, GVariant* metadata);
/// Adds signatures to a commit that the repository has; `signer` signs commits.
void add_signatures(const Repo::Impl& repo, Signer& signer, const CommitView& commit);
/// Writes a commit: what `below` has of its tree (`object_path` → bytes), then the object itself
/// (`object`), each durably and unless it is there; then its detached metadata, which are what
/// signed_metadata makes of `detached`. Returns it as the repository has it.
[[nodiscard]] CommitView write_signed_commit(const Repo::Impl& repo, Signer& signer,
                                             const std::string& object, GVariant* detached,
                                             const std::map<std::string, std::string>& below = {});

}  // namespace edgegpu
