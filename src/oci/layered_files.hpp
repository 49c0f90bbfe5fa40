#pragma once

#include <cstddef>
#include <cstdint>

#include "execution/context.hpp"
#include "image/entries.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

/// What an image may unpack to, besides 64 GiB and what the cache's file system has free.
struct UnpackLimits {
    /// bytes beyond 100 times the size of its compressed layers
    std::uint64_t spare = 1ULL << 30U;
    std::size_t entries = 4'000'000;
    /// of all its paths together
    std::uint64_t path_bytes = 512ULL << 20U;
};

/// Applies the layers of an image from number `first` on to `files`, in order (OCI's layer
/// specification), with paths from "/" as a container sees them. What later layers delete is gone,
/// so that the result needs no whiteouts. Contents are put into the cache; entries of `files` that
/// no layer replaces are returned as they are. The layers are verified by their digests and, as
/// docker and containerd do it, by the diff_ids of the configuration.
///
/// Devices, fifos and sockets, which ostree cannot hold, are left out with a warning; owners, modes
/// and capabilities are those of the layers; other extended attributes are not taken, which ostree
/// does not do either.
///
/// Throws ErrorKind::fetch naming image and member for layers that are damaged or not those of the
/// configuration, for names that leave the image, that no file of a device can have or that ostree
/// has no place for, and for what is beyond `limits`.
[[nodiscard]] Entries apply_layers(const Context& ctx, const StoredImage& image,
                                   const UnpackLimits& limits, std::size_t first, Entries files);

}  // namespace edgegpu
