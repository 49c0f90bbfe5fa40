#pragma once

#include <string>

#include "image/id_map.hpp"

namespace edgegpu {

/// Enters the namespaces of a build: a user namespace in which the owners of an image are real
/// (0 … 65534 are subordinate ids of the caller, who is `caller_id`), and a mount namespace, so
/// that overlays can be mounted and a killed build leaves no mounts behind. From then on the
/// process has all capabilities over these ids, and none over anything else that it did not have
/// before. Programs that it runs have none. The same for root, whose images have ids that nobody
/// uses.
///
/// Must be called before the first thread begins; a second call does nothing. Throws Error with the
/// command that mends it where user namespaces, newuidmap(1) or subordinate ids are missing.
void enter_build_namespace();

/// The descriptor of the namespace that programs of the image run in: it has the ids of the image
/// and not the caller's. Throws Error outside of the build's namespace.
[[nodiscard]] int image_user_namespace();

/// Which ids of the machine own the image's files, as one line. Empty outside of the build's
/// namespace.
[[nodiscard]] std::string image_owner();

}  // namespace edgegpu
