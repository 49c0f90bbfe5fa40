#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "delta/delta_content.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "repository/tree_objects.hpp"

namespace edgegpu {

/// One part of a static delta: a file that a client fetches, and makes objects of.
struct DeltaPart {
    /// The file: "x", then an XZ stream of the payload (ostree-repo-static-delta-private.h,
    /// OSTREE_STATIC_DELTA_PART_PAYLOAD_FORMAT_V0).
    std::string bytes;
    /// What it makes: for each object a byte for its type, and its checksum (32 bytes).
    std::string objects;
    /// Bytes of these objects' contents.
    std::uint64_t unpacked = 0;
    /// Files that it does not make, since clients had better fetch their objects: compressed data,
    /// and large files that are like no old one.
    std::vector<NewFile> left_out;
};

/// The two commits of a delta, and what a part of it is to make.
struct DeltaPartRequest {
    const CommitView& from;
    const CommitView& to;
    std::span<const NewFile> files;
    std::span<const TreeObject> directories;
    /// larger files are made of pieces of their source, or left out; in bytes
    std::uint64_t largest_compared = 0;
};

/// Makes a part: each file of the difference to its source where that is smaller, else of its own
/// content; large ones of pieces of their source (`find_copies`). Each difference is applied, and
/// pieces are put together, before they are used: clients end with an assertion if a difference is
/// too short. The result is the same on every machine. Throws Error for objects that are missing,
/// or do not have their checksums.
[[nodiscard]] DeltaPart make_delta_part(const Context& ctx, const DeltaPartRequest& request);

}  // namespace edgegpu
