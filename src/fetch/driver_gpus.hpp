#pragma once

#include <optional>

#include "blueprint/packages.hpp"
#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Checks the blueprint's GPUs once more, against the supported-gpus.json that the driver's own
/// packages carry: it is complete, where the table that edgegpu was built with is another driver's.
/// Nothing happens without `devices`, or where no package has the file. Throws
/// ErrorKind::unsolvable naming card, branch and the way out.
void check_driver_gpus(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                       const Resolution& resolution, const PackageFiles& packages);

}  // namespace edgegpu
