#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "signing/signer.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The state of a Repo.
struct Repo::Impl {
    std::filesystem::path path;
    std::string ref;
    /// `ref` as a file name: "/" is "%2F"
    std::string ref_file;
    RepoHandle ostree;
    /// flock(2) on `edgegpu-locks/<ref_file>.lock`
    Fd lock;
    /// checksum of the ref's commit when the lock was taken, or empty
    std::string ref_at_start;
    /// `[core] fsync` of the repository
    bool fsync = true;

    /// `edgegpu-locks/<ref_file>.summary`: exists from before the ref is set until the summary is
    /// updated.
    [[nodiscard]] std::filesystem::path summary_marker() const;
    /// Prefix of this ref's staging directories in `tmp/`.
    [[nodiscard]] std::string staging_prefix() const { return "edgegpu-" + ref_file + "-"; }
};

/// The checksum of the commit that `name` (a ref or checksum) denotes, or an empty string. Throws
/// Error if it cannot be read.
[[nodiscard]] std::string resolve_commit(const Repo::Impl& repo, const std::string& name);

/// New objects: written to a directory in `tmp/`, made durable together, then moved to `objects/`.
/// The directory is removed on destruction.
class Staging {
public:
    explicit Staging(const Repo::Impl& repo);
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging();

    /// Whether the repository has this object (`object_path`). An empty file, left by a power
    /// failure, does not count.
    [[nodiscard]] bool repository_has(const std::string& object) const;
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
    std::filesystem::path directory_;
    Fd objects_;
};

/// Regenerates the summary, signs it if the blueprint names a key, and removes the marker. Takes a
/// lock, since other builds may write other refs of the repository.
void update_summary(const Repo::Impl& repo, Signer& signer);

/// Writes the detached metadata of a commit, with `detached` unless it has a signature already. If
/// the blueprint names a key, adds a signature, unless there is one of the same key. `object` are
/// the bytes of the commit object `checksum`.
void sign_commit(const Repo::Impl& repo, Signer& signer, const std::string& checksum,
                 std::string_view object, GVariant* detached);

/// Makes a file of the repository readable for a web server, independent of the umask: sets `path`
/// to 0644 and its parents below the repository to 0755.
void make_readable(const Repo::Impl& repo, const std::filesystem::path& path);

}  // namespace edgegpu
