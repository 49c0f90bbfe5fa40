#pragma once

#include <map>
#include <string>
#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/render.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Manifests in an image: absolute path → content.
using ManifestFiles = std::map<std::string, std::string>;

/// The kustomization over all bundles that MicroShift applies from /etc/microshift/manifests.
inline constexpr const char* root_manifests = "/etc/microshift/manifests";

/// Where the bundles' files are in the image; for ManifestsPlace::root with the kustomization over
/// them. No bundles: no files.
[[nodiscard]] ManifestFiles place_bundles(const std::vector<RenderedBundle>& bundles,
                                          ManifestsPlace place);

/// Throws ErrorKind::usage if MicroShift could not apply the bundles together as they are placed:
/// for ManifestsPlace::root one kustomization renders all of them, and an object may be in one of
/// them only, and must be the same as in its bundle alone.
void check_together(const Context& ctx, const std::vector<RenderedBundle>& bundles,
                    ManifestsPlace place);

}  // namespace edgegpu
