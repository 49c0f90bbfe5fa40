#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Whether the image has `[health.gpu] workload_image` on board, by the name that podman and CRI-O
/// resolve; `images` are all that it will have. Throws ErrorKind::usage if it has images, and none
/// of that name. Returns a warning if it has none at all: somebody may bring one to the devices,
/// and gpu-health pulls nothing. Says nothing of a store that an overlay fills (`container_store`).
[[nodiscard]] std::optional<std::string> check_workload_image(
    const Blueprint& blueprint, const std::vector<ResolvedImage>& images);

/// The same before anything is resolved: says nothing where that is not known from the blueprint
/// alone (`embed_images`, a name by digest).
[[nodiscard]] std::optional<std::string> check_workload_image(const Blueprint& blueprint);

}  // namespace edgegpu
