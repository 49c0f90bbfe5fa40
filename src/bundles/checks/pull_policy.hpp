#pragma once

#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/checks/findings.hpp"

namespace edgegpu {

/// Finds containers and volumes whose image is in the commit because of `embedded`
/// (`microshift.embed_images`), but is pulled from a registry whenever the pod starts:
/// imagePullPolicy Always. Without network such a pod never starts. Only what the manifest says
/// counts: the default for tags without a digest is another one once the image is pinned.
void check_pull_policies(const std::vector<BundleObject>& objects,
                         const std::vector<ImagePattern>& embedded, Findings& findings);

}  // namespace edgegpu
