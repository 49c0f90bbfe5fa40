#pragma once

#include <string>
#include <string_view>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The file in which `move_var_to_tmpfiles` says what /var and /run have.
inline constexpr std::string_view var_configuration = "/usr/lib/tmpfiles.d/edgegpu-var.conf";

/// Removes /var and /run from the tree, because a commit contains neither, and lets
/// systemd-tmpfiles create their content at boot by lines of /usr/lib/tmpfiles.d/edgegpu-var.conf
/// (tmpfiles.d(5)): `d` for directories, `L` for links, and `C` for regular files, which are moved
/// to /usr/share/factory and reported in one warning. Paths that the image's own tmpfiles.d files
/// create get no second line; regular files whose content is lost by that are reported in another
/// one. Throws Error if the factory has another file of that name.
void move_var_to_tmpfiles(const Context& ctx, Tree& tree);

/// Replaces /home, /root, /srv, /opt, /mnt and /usr/local in the image's own /usr/lib/tmpfiles.d
/// with their targets in /var: they become links, and systemd-tmpfiles does not create paths
/// through links.
void redirect_tmpfiles(const Context& ctx, Tree& tree);

}  // namespace edgegpu
