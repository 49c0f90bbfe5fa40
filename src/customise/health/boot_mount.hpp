#pragma once

#include <string>

#include "image/tree.hpp"

namespace edgegpu {

/// The file by which the image mounts /boot read-only: /etc/fstab, a unit boot.mount or a drop-in
/// of it, whichever systemd takes. Empty: none does; the device's own fstab is not known here.
[[nodiscard]] std::string read_only_boot_mount(const Tree& tree);

}  // namespace edgegpu
