#pragma once

#include <optional>

#include "blueprint/packages.hpp"
#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Checks the blueprint's `devices` again, against supported-gpus.json of the driver's own
/// packages: unlike the table that edgegpu is built with, it belongs to exactly this driver. Does
/// nothing without `devices`, or if no package contains the file. Throws ErrorKind::unsolvable
/// naming GPU, branch and remedy.
void check_driver_gpus(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                       const Resolution& resolution, const PackageFiles& packages);

}  // namespace edgegpu
