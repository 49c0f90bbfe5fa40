#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Writes /etc/hostname, unless `hostname` is empty. `location` is the blueprint's line of it.
void set_hostname(const Context& ctx, const std::string& hostname, const SourceLocation& location,
                  Tree& tree);

/// Sets the time zone, if the image has it (check_timezone), and the NTP servers, in chrony's own
/// configuration.
void set_timezone(const Context& ctx, const TimezoneRequest& timezone, Tree& tree);

/// Sets the system's language and the console keymap, if the image has them (check_locale).
void set_locale(const Context& ctx, const LocaleRequest& locale, Tree& tree);

/// If `[ostree] url` is set, writes /etc/ostree/remotes.d/REMOTE.conf, and the public key below
/// /etc/pki/edgegpu. Without a key the remote is not verified, with a warning. `proxy` may be
/// empty. Of the remote's file in the image, what `[ostree]` does not say stays if the file is one
/// of `placed` (of the blueprint); of any other, how devices reach the remote.
void add_remote(const Context& ctx, const OstreeRequest& ostree, const std::string& proxy,
                const PlacedPaths& placed, Tree& tree);

}  // namespace edgegpu
