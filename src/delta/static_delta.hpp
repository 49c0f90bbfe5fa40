#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The file of a delta that a client asks for first; the parts are beside it: "0", "1", ….
inline constexpr const char* superblock_name = "superblock";

/// What a delta has, and what a client saves by it.
struct StaticDelta {
    /// of superblock and parts
    std::uint64_t bytes = 0;
    /// of the superblock alone
    std::uint64_t superblock_bytes = 0;
    /// of the objects that a client gets one by one all the same, as they are stored
    std::uint64_t fallback_bytes = 0;
    /// of everything that a client that has the old commit lacks, as it is stored
    std::uint64_t stored = 0;
    /// What a client must have free, or it refuses the delta.
    std::uint64_t unpacked = 0;
    std::size_t parts = 0;
    std::size_t fallbacks = 0;
    /// Files that a client gets: the superblock, the parts that are not in it, and the fallbacks.
    std::size_t requests = 0;
    bool operator==(const StaticDelta&) const = default;
};

/// How a delta is made.
struct DeltaOptions {
    /// Larger files are made of pieces of the old ones, up to 1 GiB, or fetched as objects; others
    /// of their differences. In bytes, at most `largest_comparable`: a difference takes seven times
    /// that of memory here, and once on a device.
    std::uint64_t largest_compared = 256ULL << 20U;
    /// Each file is on the disk before the call returns.
    bool durable = true;
};

/// No part may be unpacked to more than 512 MiB (libostree 2026.3), and a difference can be larger
/// than its file.
inline constexpr std::uint64_t largest_comparable = 480ULL << 20U;

/// The directory of a delta in a repository: "deltas/XX/YYYY-ZZZZ" (libostree,
/// _ostree_get_relative_static_delta_path). Checksums of the old and the new commit; without an old
/// one "deltas/XX/YYYY", which clients ask for that have no commit of the ref.
[[nodiscard]] std::string delta_path(const std::string& from, const std::string& to);

/// Writes a static delta, which clients of libostree from 2020.7 on apply, to an empty directory:
/// parts, and the superblock last. It has the detached metadata that `to` has now, which is all
/// that a client verifies. Objects are read from the repositories of the two commits. The same
/// objects make the same files on every machine. Throws Error.
[[nodiscard]] StaticDelta write_static_delta(const Context& ctx, const CommitView& from,
                                             const CommitView& to, const Fd& directory,
                                             const DeltaOptions& options);

/// A delta that a repository has.
struct FoundDelta {
    /// `stored` is 0 if another program made it
    StaticDelta delta;
    /// The superblock with the detached metadata that the commit has now, if it has others: a
    /// client verifies these alone. Else null.
    VariantHandle renewed;
    /// SHA-256 of the superblock as it is, 32 bytes, as summaries have it
    std::string digest;
};

/// The superblock in the directory of a delta; null if there is none in the plain format.
[[nodiscard]] VariantHandle load_superblock(const Fd& directory);

/// The index of all deltas to a commit: "delta-indexes/XX/YYYY.index".
[[nodiscard]] std::string index_path(const std::string& to);

/// Reads a delta in its directory; `from` as for delta_path. Nothing if there is none, or one of
/// other commits, or a part is missing or damaged.
[[nodiscard]] std::optional<FoundDelta> find_static_delta(const Fd& directory,
                                                          const std::string& from,
                                                          const CommitView& to);

/// The delta that a repository has from one of its commits to another, or nothing.
[[nodiscard]] std::optional<StaticDelta> delta_between(const RepositoryView& repository,
                                                       const CommitView& from,
                                                       const CommitView& to);

}  // namespace edgegpu
