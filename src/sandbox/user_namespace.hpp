#pragma once

#include <string>

namespace edgegpu {

/// Enters the namespaces of a build: a user namespace with the ids of an image (0 … 65534 are
/// subordinate ids of the caller, who is `caller_id`), and a mount namespace, so that overlays can
/// be mounted and a killed build leaves no mounts behind. From then on the process has all
/// capabilities over these ids, and no others that it did not have before; programs that it runs
/// have none. The same for root, whose images get ids that are not in use.
///
/// Must be called before the first thread is started; a second call does nothing. Throws Error,
/// with the command that helps, if user namespaces, newuidmap(1) or subordinate ids are missing.
void enter_build_namespace();

/// The descriptor of the user namespace for programs of the image: it has the ids of the image and
/// not the caller's. Throws Error outside of the build's namespace.
[[nodiscard]] int image_user_namespace();

/// The ids of the machine that own the image's files, "FIRST+COUNT " for each range. Empty outside
/// of the build's namespace.
[[nodiscard]] std::string image_owner();

}  // namespace edgegpu
