#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/gpu/gpus.hpp"

namespace edgegpu {

/// What the GPUs of a blueprint mean for its driver.
struct DeviceVerdict {
    /// The kernel modules that they leave, or the request's own `automatic`.
    DriverFlavor flavor = DriverFlavor::automatic;
    /// what could not be told, a line each
    std::vector<std::string> warnings;
};

/// Branch of a driver version, branch or module stream: "535.261.03" and "535-open" → 535; 0 for
/// "latest".
[[nodiscard]] unsigned branch_of(const std::string& driver);

/// Checks the GPUs of `request` against what `table` knows, for the driver `driver` (a version, a
/// branch or "latest", of which no branch is known). `own` says that the table is this driver's:
/// it is complete then, while a table of another driver may lack newer GPUs. Throws
/// ErrorKind::unsolvable naming card, branch and the way out if a GPU would not run.
[[nodiscard]] DeviceVerdict check_devices(const NvidiaRequest& request, const GpuTable& table,
                                          const std::string& driver, bool own);

}  // namespace edgegpu
