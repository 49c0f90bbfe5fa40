#pragma once

#include "commands/commands.hpp"

namespace edgegpu {

/// Name of the type of image that is not a disk.
inline constexpr const char* oci_type = "oci";

/// `edgegpu image --type oci`: writes or pushes the commit as an image in ostree's container
/// format, and prints the summary. Options of disks are usage errors.
int run_oci_image(const GlobalOptions& global, const ImageCommand& command);

}  // namespace edgegpu
