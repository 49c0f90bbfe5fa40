#pragma once

#include <string>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Makes `store`, `customizations.containers-storage.destination-path`, an additional image store
/// of the image's podman and CRI-O (containers-storage.conf(5), additionalimagestores), in
/// /etc/containers/storage.conf. The store itself, where no overlay brings one, is made empty:
/// directories and lock files, without which a read-only store is an error on the device. Throws
/// ErrorKind::usage where the image's storage.conf is malformed. Nothing happens without a store.
void add_container_store(const Context& ctx, const std::string& store, Tree& tree);

/// storage.conf with `path` among its additionalimagestores.
[[nodiscard]] std::string with_image_store(const std::string& text, const std::string& path);

}  // namespace edgegpu
