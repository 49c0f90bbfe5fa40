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

/// The files of a container image: its layers applied in order (OCI's layer specification), with
/// paths from "/" as a container sees them. What later layers delete is gone, so that the result
/// needs no whiteouts. Contents are in the cache. The layers are verified by their digests and, as
/// docker and containerd do it, by the diff_ids of the configuration; they are unpacked once for
/// all builds.
///
/// Devices, fifos and sockets, which ostree cannot hold, are left out with a warning; owners, modes
/// and capabilities are those of the image. Missing files over which engines mount, or which they
/// create in each container (/proc, /etc/hosts, /etc/mtab, …), are added: in a store that belongs
/// to root, the containers of other users cannot create them.
///
/// Throws ErrorKind::fetch naming image and member for layers that are damaged or not those of the
/// configuration, for names that leave the image, that no file of a device can have or that ostree
/// has no place for, and for images beyond `limits`.
[[nodiscard]] Entries unpack_image(const Context& ctx, const StoredImage& image,
                                   const UnpackLimits& limits = {});

}  // namespace edgegpu
