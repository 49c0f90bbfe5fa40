#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/device.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The lines of a program's `output` that name one of the user's files, without those that say that
/// it is good; each begins with the user's place for that file.
[[nodiscard]] std::vector<std::string> findings_about(std::string_view output,
                                                      const PlacedPaths& files);

/// Lets programs of the image read what `placed` has of their configuration: sshd, sudo, firewalld,
/// chronyd, skopeo and nft, which a device would go without, and the shells of greenboot's checks,
/// which would fail at every boot, and of the scripts of the first boot. Throws ErrorKind::usage
/// with what they say about the user's files; warns if a program fails without naming any of them,
/// and about drop-ins of sshd that it does not include.
void check_configuration(const Context& ctx, const PlacedPaths& placed,
                         const std::vector<FirstbootScript>& firstboot, const Tree& tree);

}  // namespace edgegpu
