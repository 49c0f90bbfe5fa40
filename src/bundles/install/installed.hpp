#pragma once

#include <string>
#include <vector>

#include "bundles/bundle_files.hpp"
#include "bundles/install/place.hpp"

namespace edgegpu {

/// Directory of tombstones, beside the bundles of a manifests.d.
inline constexpr std::string_view tombstones_directory = "delete";

/// The directories from which MicroShift applies manifests, in its order; "/*": each directory in
/// it.
[[nodiscard]] const std::vector<std::string>& manifest_places();

/// What MicroShift applies of the manifests of an image, each with its directory as `source`: the
/// directories of each manifests.d, and of each `manifests` either the directories that its
/// kustomization lists, if it does nothing else and they have one themselves (as that of
/// ManifestsPlace::root), or itself. Directories without a kustomization and tombstones are left out.
[[nodiscard]] std::vector<BundleFiles> installed_bundles(const ManifestFiles& manifests);

/// The tombstones: the directories in a `delete` of a manifests.d.
[[nodiscard]] std::vector<BundleFiles> installed_tombstones(const ManifestFiles& manifests);

}  // namespace edgegpu
