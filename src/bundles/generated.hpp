#pragma once

#include <string_view>
#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/bundle_files.hpp"

namespace edgegpu {

/// Directory of the user's own files in a generated bundle.
inline constexpr std::string_view generated_base = "base";

/// Whether a file of a generated bundle is one of the blueprint's patches.
[[nodiscard]] bool is_generated_patch(std::string_view file);

/// Whether the blueprint changes anything of the bundle.
[[nodiscard]] bool is_customised(const BundleRequest& request);

/// The bundle as the blueprint wants it: the user's files below `base`, and a kustomization over
/// them with what `request` changes and then with `pins`, for the images as they are called after
/// those changes. Patches are files beside it ("patch-1.yaml"), and values are files below
/// "values/CONFIG_MAP/". Values are merged into a config map that the bundle has, which keeps its
/// name or the hash in it; otherwise they become a config map of exactly that name. The result is
/// the bundle itself if there is nothing to change. `bundle` is that of `request`, with its
/// location. Throws ErrorKind::usage for a component that the bundle does not have.
[[nodiscard]] BundleFiles generate_bundle(const BundleFiles& bundle, const BundleRequest& request,
                                          const std::vector<BundleImage>& pins = {});

}  // namespace edgegpu
