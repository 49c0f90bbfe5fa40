#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Configures `store` (`customizations.containers-storage.destination-path`, or that of
/// `[[containers]]`) as an additional image store of podman and CRI-O (additionalimagestores in
/// containers-storage.conf(5)): in /etc/containers/storage.conf, which takes the place of
/// /usr/share/containers/storage.conf, and in drop-ins that have a list of their own; and for
/// ordinary users, with a link in their homes. If no overlay contains the store, an empty one is
/// created, since podman fails without its directories and lock files. Throws ErrorKind::usage if
/// the image's storage.conf cannot be extended. Does nothing if `store` is empty.
void add_container_store(const Context& ctx, const std::string& store, Tree& tree);

}  // namespace edgegpu
