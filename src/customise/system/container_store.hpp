#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Configures `store` (`customizations.containers-storage.destination-path`) as an additional image
/// store of podman and CRI-O (additionalimagestores in containers-storage.conf(5)), in
/// /etc/containers/storage.conf. If no overlay contains it, an empty store is created, since podman
/// fails without its directories and lock files. Throws ErrorKind::usage if the image's
/// storage.conf is malformed. Does nothing if `store` is empty.
void add_container_store(const Context& ctx, const std::string& store, Tree& tree);

/// The text of a storage.conf with `path` added to additionalimagestores.
[[nodiscard]] std::string with_image_store(const std::string& text, const std::string& path);

}  // namespace edgegpu
