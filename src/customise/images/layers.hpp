#pragma once

#include "execution/context.hpp"
#include "image/entries.hpp"
#include "oci/blobs.hpp"
#include "oci/layered_files.hpp"

namespace edgegpu {

/// The files of a container image (oci/layered_files.hpp), unpacked once for all builds. Missing
/// files over which engines mount, or which they create in each container (/proc, /etc/hosts,
/// /etc/mtab, …), are added: in a store that belongs to root, the containers of other users cannot
/// create them.
[[nodiscard]] Entries unpack_image(const Context& ctx, const StoredImage& image,
                                   const UnpackLimits& limits = {});

}  // namespace edgegpu
