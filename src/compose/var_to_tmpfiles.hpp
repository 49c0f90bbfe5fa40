#pragma once

#include <string>
#include <string_view>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Takes everything below /var and /run out of the tree, because a commit carries neither, and has
/// systemd-tmpfiles (tmpfiles.d(5)) make it at boot: directories and links as `d` and `L` lines of
/// /usr/lib/tmpfiles.d/edgegpu-var.conf, regular files as content below
/// /usr/share/factory with a `C` line, reported in one warning. What a tmpfiles.d file of
/// the image makes already gets no second line.
void move_var_to_tmpfiles(const Context& ctx, Tree& tree);

/// Lets lines of the image's own tmpfiles.d that name /home, /root, /srv, /opt, /mnt or /usr/local
/// name the place in /var instead, since those are links now and tmpfiles does not create
/// through links.
void redirect_tmpfiles(const Context& ctx, Tree& tree);

/// A path as a field of tmpfiles.d(5): specifiers (%) and blanks escaped.
[[nodiscard]] std::string escape_tmpfiles_path(std::string_view path);

}  // namespace edgegpu
