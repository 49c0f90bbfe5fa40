#pragma once

#include <array>
#include <string_view>

namespace edgegpu {

/// Where images have the program that makes the volume groups of a blueprint on devices: package
/// lvm2, with and without a directory for programs of the system alone.
inline constexpr std::array<std::string_view, 2> volume_group_programs{"/usr/sbin/vgcreate",
                                                                       "/usr/bin/vgcreate"};

}  // namespace edgegpu
