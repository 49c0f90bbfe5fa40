#pragma once

#include <map>
#include <string>
#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/objects.hpp"
#include "bundles/render.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The digests that kustomize's `images` puts in place of tags: reference as the objects have it
/// ("quay.io/x/app:1", "busybox") → "sha256:…".
using ImagePins = std::map<std::string, std::string>;

/// The pins of a bundle's references without digest to images that are in the commit. `digests`:
/// complete name → SHA-256 in hexadecimal. A reference without tag is left as it is if there is
/// another one of the same repository, as kustomize would take its pin for both.
[[nodiscard]] ImagePins image_pins(const std::vector<KubeObject>& objects,
                                   const std::map<std::string, std::string>& digests);

/// The bundles as they are in the commit: those with references to pin become generated bundles
/// (`generate_bundle`) with a digest in place of each tag, rendered again. `bundles` are those of
/// `requests`. Throws as `render_bundles`.
[[nodiscard]] std::vector<RenderedBundle> pin_bundles(
    const Context& ctx, const std::vector<BundleRequest>& requests,
    std::vector<RenderedBundle> bundles, const std::map<std::string, std::string>& digests);

}  // namespace edgegpu
