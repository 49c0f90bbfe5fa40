#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Copies the files that a blueprint names into the cache and hashes them, in one pass, before any
/// stage reads them; no stage opens the user's own files afterwards. A file that changes during the
/// build is therefore committed as it was hashed, and one that changes while it is copied ends the
/// build.
///
/// Returns a blueprint that refers to the copies: overlays, bundles and files by `stored` (the
/// user's paths are kept for messages), policy modules and public keys by the paths of copies,
/// which `path_of_user` maps to the user's paths. Not copied are key and certificate of
/// `[nvidia.secure_boot]`, which the signing process reads together and keeps in memory, and keys
/// and certificates of repositories, which only affect transfers.
///
/// Copies are stored in `content/` under their digests, so that unchanged files are read but not
/// written. Needs the cache's lock. Throws ErrorKind::usage at the blueprint's line for missing
/// files and objects that an image cannot contain (fifos, sockets, devices: they are never opened),
/// Error for a file that changes while it is copied.
[[nodiscard]] Blueprint take_snapshot(const Context& ctx, const Blueprint& blueprint);

}  // namespace edgegpu
