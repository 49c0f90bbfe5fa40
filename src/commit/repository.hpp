#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "signing/signer.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// What a Repo holds while it lives.
struct Repo::Impl {
    std::filesystem::path path;
    std::string ref;
    /// `ref` as a file name: "/" is "%2F"
    std::string ref_file;
    RepoHandle ostree;
    /// flock(2) on `edgegpu-locks/<ref_file>.lock`
    Fd lock;
    /// the commit the ref named when the lock was taken, or empty
    std::string ref_at_start;
    /// `[core] fsync` of the repository
    bool fsync = true;

    /// `edgegpu-locks/<ref_file>.summary`: exists while a moved ref waits for its summary.
    [[nodiscard]] std::filesystem::path summary_marker() const;
    /// Prefix of this ref's staging directories in `tmp/`.
    [[nodiscard]] std::string staging_prefix() const { return "edgegpu-" + ref_file + "-"; }
};

/// The commit a ref or checksum names, or an empty string. Throws Error.
[[nodiscard]] std::string resolve_commit(const Repo::Impl& repo, const std::string& name);

/// New objects on their way into the repository: written below `tmp/`, made durable together, then
/// moved to their names. Whatever is left of it goes when it goes.
class Staging {
public:
    explicit Staging(const Repo::Impl& repo);
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging();

    /// Whether the repository has this object (an empty file, left by a power cut, does not
    /// count). `object` is an `object_path`.
    [[nodiscard]] bool repository_has(const std::string& object) const;
    /// Creates a file of the staging directory for `object`, mode 0644, to be filled with `write`.
    /// Any thread.
    [[nodiscard]] Fd create(const std::string& object) const;
    /// Appends to such a file. Throws Error; a full disk has its own message.
    void write(const Fd& file, std::string_view bytes) const;
    /// `create` and `write` at once.
    void put(const std::string& object, std::string_view bytes) const;
    /// Makes everything written so far durable, moves `objects` into place, and makes that durable.
    void publish(const std::vector<std::string>& objects) const;

private:
    void sync_all() const;
    // `name` below the staging directory, or below `objects/`
    void sync_one(const std::string& name, bool staged) const;

    const Repo::Impl& repo_;
    std::filesystem::path directory_;
    Fd objects_;
};

/// Regenerates the summary, signed where the blueprint names a key, and removes the marker.
/// Builds on several refs of one repository take turns.
void update_summary(const Repo::Impl& repo, Signer& signer);

/// Writes the detached metadata of a commit (unless it has a signature already), with a signature
/// where the blueprint names a key: beside those of other keys, and once. `object` are the bytes of
/// the commit object `checksum`.
void sign_commit(const Repo::Impl& repo, Signer& signer, const std::string& checksum,
                 std::string_view object, GVariant* detached);

/// Marks the repository's files readable for a web server, whatever the umask was:
/// directories 0755, files 0644 for `path` and every parent of it below the repository.
void make_readable(const Repo::Impl& repo, const std::filesystem::path& path);

}  // namespace edgegpu
