#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Where the image has a script, by its place in the blueprint's list, counted from 0.
[[nodiscard]] std::string firstboot_path(std::size_t index, const FirstbootScript& script);

/// Adds the scripts of `[[customizations.firstboot.scripts]]` below /usr/libexec/edgegpu/firstboot,
/// and edgegpu-firstboot.service, which runs them one after the other, in the blueprint's order,
/// once on each device, even across updates: it creates /var/lib/edgegpu/firstboot.done before the
/// first script, so that none runs twice, even if one fails. The first that fails without
/// `ignore_failure` fails the unit. Throws ErrorKind::usage with the blueprint's line if the image
/// does not have a script's interpreter.
void add_firstboot(const Context& ctx, const std::vector<FirstbootScript>& scripts, Tree& tree);

/// Throws ErrorKind::usage with the script and its `before` or `after` if the image's
/// `systemd-analyze verify` finds that edgegpu-firstboot.service, which waits for the network,
/// would wait for itself: systemd then starts the device without one of these units.
void check_firstboot_order(const Context& ctx, const std::vector<FirstbootScript>& scripts,
                           const Tree& tree);

/// What it throws of such an output.
void require_no_firstboot_cycle(const std::vector<FirstbootScript>& scripts,
                                const std::string& output);

}  // namespace edgegpu
