#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/accelerator.hpp"
#include "machine/machine.hpp"
#include "machine/uefi_firmware.hpp"

namespace edgegpu {

/// Sockets that QEMU inherits, by their numbers.
struct QemuSockets {
    int monitor = -1;
    /// the first serial port
    int console = -1;
    /// the second
    int agent = -1;
    /// what SeaBIOS prints; -1: nothing
    int firmware = -1;
};

/// The value of -machine, and the arguments that give a machine of that type its flash memory.
[[nodiscard]] std::string machine_type(const std::optional<UefiFirmware>& uefi);
[[nodiscard]] std::vector<std::string> flash_devices(const UefiFirmware& uefi);

/// The arguments with which QEMU is such a machine. `uefi`: without a value, QEMU's own SeaBIOS;
/// its `variables` are those of this machine, which it writes to.
[[nodiscard]] std::vector<std::string> qemu_command(const std::string& qemu,
                                                    const MachineSettings& settings,
                                                    const Execution& execution,
                                                    const std::optional<UefiFirmware>& uefi,
                                                    const QemuSockets& sockets);

}  // namespace edgegpu
