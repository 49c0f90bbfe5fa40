#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "publish/retention_record.hpp"
#include "repository/commit_view.hpp"
#include "repository/object_files.hpp"

namespace edgegpu {

/// What a repository keeps.
struct PruneRequest {
    std::filesystem::path repository;
    /// versions of each ref, the newest among them; at least 1
    unsigned keep = 2;
    /// how long what nothing needs stays: clients and caches may be reading it
    std::chrono::seconds grace = std::chrono::days(7);
    bool dry_run = false;
    LockWait lock_wait = {};
};

/// A commit that is no version to keep.
struct UnneededCommit {
    /// whose version it was; of no ref: the one that it was made for, or empty
    std::string ref;
    std::string checksum;
    std::string version;
    /// its own time, 0 if it cannot be read; when it was noted that nothing needs it. Unix times.
    std::int64_t time = 0;
    std::int64_t since = 0;
    /// it goes now
    bool due = false;
};

/// A delta that no client asks for.
struct UnneededDelta {
    DeltaDirectory directory;
    std::int64_t since = 0;
    bool due = false;
};

/// What goes, and what has to wait.
struct PrunePlan {
    /// from the oldest on
    std::vector<UnneededCommit> commits;
    std::vector<UnneededDelta> deltas;
    /// what goes besides the files of the commits that are due: detached metadata, directories,
    /// contents, in this order
    std::vector<ObjectFile> objects;
    /// of these, and of the commits that are due
    std::uint64_t object_bytes = 0;
    /// names below the repository of what killed runs have left: see list_leftovers
    std::vector<std::string> leftovers;
    /// number of commits that are kept
    std::size_t kept = 0;
    /// what is remembered before anything goes
    RetentionRecord record;

    [[nodiscard]] std::size_t due_commits() const;
    [[nodiscard]] std::size_t due_deltas() const;
    [[nodiscard]] std::uint64_t due_delta_bytes() const;
    /// Whether anything goes.
    [[nodiscard]] bool removes() const;
};

/// What `request` means for a repository at a time (Unix time). The newest versions of each ref are
/// kept (versions_of_ref), pinned commits, those to which rollout plans lead, and what else has not
/// been unneeded for the grace. Throws Error if something that is to be kept cannot be read: what
/// it needs is not known then.
[[nodiscard]] PrunePlan plan_prune(const Context& ctx, const RepositoryView& repository,
                                   const PruneRequest& request, std::int64_t now);

}  // namespace edgegpu
