#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

/// Where images are unless the blueprint names a place, as in image builder's edge commits.
inline constexpr const char* default_image_store = "/usr/share/containers/storage";

/// Puts the images into an additional image store (containers-storage, driver overlay) at `store`,
/// a directory below /usr: index, manifests and configurations as bytes, so that engines find the
/// images by name and by digest; and the files of each image as one layer without whiteouts, which
/// need devices that an ostree commit cannot hold. The same images give the same bytes, whatever
/// their order.
///
/// The files are not in the directory in which programs of the image run (Tree::root). Throws
/// ErrorKind::usage if the tree has a store there.
void add_images(const Context& ctx, const std::vector<StoredImage>& images,
                const std::string& store, Tree& tree);

}  // namespace edgegpu
