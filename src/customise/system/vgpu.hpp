#pragma once

#include <optional>
#include <string>

#include "blueprint/packages.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// nvidia-gridd's gridd.conf: a line for each key that the blueprint sets.
[[nodiscard]] std::string gridd_conf_text(const VgpuRequest& vgpu);

/// With `[nvidia.vgpu]`: adds /etc/nvidia/gridd.conf, and what nvidia-gridd needs of an image whose
/// /usr is read-only and whose /etc and /var outlive upgrades: its state directory
/// (tmpfiles.d), the link that starts it at boot and, if the licence needs a token, the directory
/// of tokens, a drop-in that skips the service until there is one, and units that start it when
/// one comes, or else say in the journal that there is none (src/customise/device/vgpu-token).
///
/// Throws ErrorKind::usage for an image without nvidia-gridd.service, with files of a host's driver
/// (vgpu-kvm), or with a gridd.conf of the user's (`placed`); one of a package is replaced, with a
/// word about what it set. Without `[nvidia.vgpu]` the tree stays
/// unchanged.
void add_vgpu_licence(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                      const PlacedPaths& placed, Tree& tree);

}  // namespace edgegpu
