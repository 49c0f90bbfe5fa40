#pragma once

#include "execution/context.hpp"
#include "image/entries.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

/// The files of a container image: its layers applied in order (OCI's layer specification), with
/// paths from "/" as a container sees them. What later layers delete is gone, so that the result
/// needs no whiteouts. Contents are in the cache. The layers are verified by their digests; they
/// are unpacked once for all builds.
///
/// Devices, fifos and sockets, which ostree cannot hold, are left out with a warning; owners, modes
/// and capabilities are those of the image. Missing files over which engines mount, or which they
/// create in each container (/proc, /etc/hosts, /etc/mtab, …), are added: in a store that belongs
/// to root, the containers of other users cannot create them.
///
/// Throws ErrorKind::fetch naming image and member for layers that are damaged, for paths that
/// leave the image, and for images beyond 64 GiB or 4,000,000 files.
[[nodiscard]] Entries unpack_image(const Context& ctx, const StoredImage& image);

}  // namespace edgegpu
