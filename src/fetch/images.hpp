#pragma once

#include <vector>

#include "blueprint/containers.hpp"
#include "execution/context.hpp"
#include "oci/blobs.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Fetches the resolved container images by their digests: manifests, configurations, and those of
/// their layers that the cache does not have, once even if several images share them. Everything
/// that arrives is verified by its digest. `requests` say how their registries are reached,
/// `architecture` is RPM's name of the one that is taken of an index. With
/// ctx.offline nothing is downloaded. Throws ErrorKind::fetch naming the image.
[[nodiscard]] std::vector<StoredImage> fetch_images(const Context& ctx,
                                                    const std::vector<ResolvedImage>& images,
                                                    const std::vector<ContainerRequest>& requests,
                                                    const std::string& architecture);

}  // namespace edgegpu
