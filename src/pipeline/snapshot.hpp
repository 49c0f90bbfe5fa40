#pragma once

#include "blueprint/blueprint.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Takes what a blueprint names of the builder's files, once, before any stage reads them: each is
/// copied into the cache and hashed in one go, and no stage opens the user's own file after that. A
/// file that changes while the build runs is therefore committed as it was hashed, and one that
/// changes while it is copied ends the build.
///
/// Returns the blueprint with the copies in it: overlays, bundles and files as `stored` (beside the
/// user's paths, for messages), policy modules and `gpg_public_key` as paths of copies that
/// `path_of_user` leads back from. Not copied: the key of `[nvidia.secure_boot]`, which only ever
/// is in memory, its certificate, which is read together with it (kmods/sign.hpp), and what
/// concerns the transfer alone (keys and certificates of repositories).
///
/// Copies lie in `content/`, under their digests, so that unchanged files are read and not written.
/// Needs the cache's lock. Throws ErrorKind::usage at the blueprint's line for what is not there or
/// no image can carry (fifos, sockets, devices: they are never opened), Error for a file that is
/// written to meanwhile.
[[nodiscard]] Blueprint take_snapshot(const Context& ctx, const Blueprint& blueprint);

}  // namespace edgegpu
