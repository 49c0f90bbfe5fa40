#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "gpu/gpus.hpp"

namespace edgegpu {

/// Result of checking a blueprint's GPUs.
struct DeviceVerdict {
    /// The flavor that they require, else the request's own.
    DriverFlavor flavor = DriverFlavor::automatic;
    /// What could not be checked, one line each, with the location of `devices`.
    std::vector<std::string> warnings;
};

/// Branch of a driver version, branch or module stream: "535.261.03" and "535-open" → 535; 0 for
/// "latest".
[[nodiscard]] unsigned branch_of(const std::string& driver);

/// Checks the GPUs of `request` against `table` for `driver`: a version, a branch, or "latest",
/// whose branch is unknown. `own`: the table belongs to this driver and is complete; that of
/// another driver may lack newer GPUs. Throws ErrorKind::unsolvable at `devices`, naming GPU,
/// branch and remedy, if the driver does not support a GPU.
[[nodiscard]] DeviceVerdict check_devices(const NvidiaRequest& request, const GpuTable& table,
                                          const std::string& driver, bool own);

/// Checks a blueprint's GPUs by edgegpu's own table for the driver that it requests, which needs no
/// repository. Returns what could not be checked; throws like check_devices.
[[nodiscard]] std::vector<std::string> check_requested_devices(
    const std::optional<NvidiaRequest>& request);

}  // namespace edgegpu
