#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "execution/context.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

/// Whether an image says that devices can start it (labels `containers.bootc`, `ostree.bootable`).
[[nodiscard]] bool is_for_devices(const StoredImage& image);

/// Writes into the repository at `place` the commit of what the layers from number `first` on, as a
/// Containerfile adds them, make of `base`, a commit there, or of nothing if that is empty. Returns
/// its checksum. /etc of the layers is /usr/etc of the commit, as bootc and rpm-ostree import it;
/// what lies in /run, /tmp, /proc, /sys, /dev and /sysroot is left out, which they do not import
/// either, nor the empty /etc/hostname and /etc/resolv.conf that builders of images leave.
/// Files of `base` that no layer replaces keep their objects; new ones, and all directories, have
/// no SELinux label: whoever reads a parent labels it anew. The metadata are those of `base`,
/// without what is true of it alone (its packages, refs, advisories), with version and time of the
/// image. Throws as `apply_layers`; Error for objects of `base` that are missing or malformed.
[[nodiscard]] std::string merge_layers(const Context& ctx, const StoredImage& image,
                                       std::size_t first, const std::filesystem::path& place,
                                       const std::string& base);

}  // namespace edgegpu
