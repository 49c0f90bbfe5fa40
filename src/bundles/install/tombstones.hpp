#pragma once

#include <string>
#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/install/place.hpp"
#include "execution/context.hpp"
#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// What deletes objects of bundles that are gone.
struct Tombstones {
    /// "/etc/microshift/manifests.d/delete/NAME/…"
    ManifestFiles files;
    /// Bundles that are deleted, sorted.
    std::vector<std::string> bundles;
    /// What is not deleted, and why.
    std::vector<std::string> warnings;
};

/// Compares the manifests of the parent commit with those of the image, both with the paths that
/// they have on a device. A bundle of the parent whose name is none in the image gets a tombstone:
/// MicroShift deletes the objects in it whenever it starts, before it applies anything. It is kept
/// for `request.tombstones` commits; how many are left is written in it. It has apiVersion, kind,
/// name and namespace of the objects that the bundle rendered to, but for those
/// - that something in the image still brings,
/// - of kinds that not every MicroShift of this version serves: it would try to delete them for ten
///   minutes, and apply nothing meanwhile,
/// - that hold data or other objects, unless `request.delete_data`; namespaces in which the image
///   has objects in any case.
///
/// `bundles` are those of the image that have been rendered already. The parent is not trusted:
/// what cannot be read of it is a warning.
[[nodiscard]] Tombstones make_tombstones(const Context& ctx, const MicroshiftRequest& request,
                                         const std::vector<RenderedBundle>& bundles,
                                         const ManifestFiles& image, const ManifestFiles& parent,
                                         KubernetesVersion kubernetes);

}  // namespace edgegpu
