#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Where a promoted commit comes from, as its metadata have it: `edgegpu.promoted-from`, `-ref`,
/// `-by`, `-at` (big-endian), `-reason`. Texts may have control characters.
struct Promotion {
    /// checksum of the commit that has the same tree
    std::string from;
    /// the ref that had that commit, or empty
    std::string from_ref;
    std::string by;
    /// Unix time
    std::int64_t at = 0;
    /// or empty
    std::string reason;
};

/// The end of a ref: `ostree.endoflife`, which rpm-ostree shows, and `ostree.endoflife-rebase`, the
/// ref that `ostree admin upgrade` goes on with by itself. Both are empty if it has not ended.
struct EndOfLife {
    std::string text;
    std::string rebase;
    bool operator==(const EndOfLife&) const = default;
};

/// What the metadata of a commit say of the ref that it was made for.
struct ChannelRecord {
    /// nothing for a commit that was built
    std::optional<Promotion> promotion;
    EndOfLife end;
    /// Unix time of the commit that was built: of promoted ones `edgegpu.image-time`
    std::int64_t image_time = 0;
    /// `ostree.architecture`, or empty
    std::string architecture;
};

/// Reads it. Throws Error for metadata of another form.
[[nodiscard]] ChannelRecord read_channel_record(const CommitView& commit);

/// What a promoted commit has that its source has not.
struct PromotedCommit {
    /// the only one that it is bound to
    std::string ref;
    /// what clients of the repository find it bound to (core.collection-id); empty: as the source
    std::string collection;
    /// checksum, or empty
    std::string parent;
    /// Unix time
    std::int64_t time = 0;
    Promotion promotion;
    EndOfLife end;
};

/// The bytes of a commit object with the tree, the texts and the other metadata of `source`. Throws
/// Error.
[[nodiscard]] std::string promoted_object(const CommitView& source, const PromotedCommit& promoted);

/// The detached metadata of `source` without its signatures, of whatever kind, an a{sv}: a promoted
/// commit has its own. Throws Error.
[[nodiscard]] VariantHandle unsigned_metadata(const CommitView& source);

/// What devices download that have the ref's last commit, without a delta.
struct DeviceDownload {
    std::size_t objects = 0;
    /// as they are stored
    std::uint64_t bytes = 0;
};

/// Of devices with `head` that get the tree of `source`. Throws Error for objects that are missing.
[[nodiscard]] DeviceDownload download_of(const Context& ctx, const CommitView& source,
                                         const CommitView& head);

}  // namespace edgegpu
