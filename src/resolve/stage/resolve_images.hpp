#pragma once

#include <string>
#include <vector>

#include "blueprint/containers.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Looks up the digest of each container image, with skopeo, and the manifest for the image's
/// architecture (`architecture`: RPM's name of it). What is requested by its digest is looked up
/// only if the cache does not have it. Manifests, indexes and configurations are kept in the cache.
/// Throws ErrorKind::fetch at the line of the blueprint; also for an image that is not built for
/// the architecture.
[[nodiscard]] std::vector<ResolvedImage> resolve_images(
    const Context& ctx, const std::vector<ContainerRequest>& requests,
    const std::string& architecture);

/// Whether an argument of --update names one of the images: by its name, with or without the tag,
/// or by its source, with or without the transport; globs as in fnmatch(3).
[[nodiscard]] bool names_image(const std::vector<ResolvedImage>& locked,
                               const std::string& pattern);

/// The same for the images that are requested.
[[nodiscard]] bool names_request(const std::vector<ContainerRequest>& requests,
                                 const std::string& pattern);

/// The locked images of the requests. Those without a locked image are looked up as in
/// `resolve_images`, and so are those that one of `patterns` names.
[[nodiscard]] std::vector<ResolvedImage> update_images(
    const Context& ctx, const std::vector<ContainerRequest>& requests,
    const std::string& architecture, const std::vector<ResolvedImage>& locked,
    const std::vector<std::string>& patterns);

/// The locked images, of exactly the requests. Throws ErrorKind::unsolvable listing all
/// differences. Uses no network.
[[nodiscard]] std::vector<ResolvedImage> require_locked_images(
    const std::vector<ContainerRequest>& requests, const std::vector<ResolvedImage>& locked);

}  // namespace edgegpu
