#pragma once

#include <vector>

#include "blueprint/blueprint.hpp"
#include "bundles/checks/image_facts.hpp"
#include "bundles/render.hpp"
#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// What is known of the image once its packages are.
[[nodiscard]] ImageFacts facts_of_image(const Blueprint& blueprint, const Resolution& resolution);

/// The bundles with the digests of the images that the commit will contain in place of their tags
/// (pin_bundles).
[[nodiscard]] std::vector<RenderedBundle> pin_resolved_images(const Context& ctx,
                                                              const MicroshiftRequest& request,
                                                              const Resolution& resolution,
                                                              std::vector<RenderedBundle> bundles);

/// With `[parent]`: `check_beside_parent`; `tree` has no manifests of the blueprint yet.
void check_bundles_on_parent(const Context& ctx, const Blueprint& blueprint,
                             const std::vector<RenderedBundle>& bundles,
                             KubernetesVersion kubernetes, const Tree& tree);

/// Adds to the tree what makes MicroShift delete the bundles of the parent commit that the image
/// does not have (make_tombstones), and says which these are. A parent whose manifests cannot be
/// read is a warning, and so is an image of which it is not known what MicroShift applies: with
/// links among its manifests, or with other `manifests.kustomizePaths` than the default. Those that
/// an image has of the parent that it is a layer on (`[parent]`) stay as they are.
void add_tombstones(const Context& ctx, const Blueprint& blueprint,
                    const std::vector<RenderedBundle>& bundles, KubernetesVersion kubernetes,
                    const Repo& repo, const Parent& parent, Tree& tree);

}  // namespace edgegpu
