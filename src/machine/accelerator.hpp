#pragma once

#include <optional>
#include <string>

#include "execution/context.hpp"
#include "machine/machine.hpp"
#include "machine/uefi_firmware.hpp"

namespace edgegpu {

/// How a guest's instructions are executed on this host.
struct Execution {
    Accelerator accelerator = Accelerator::tcg;
    /// QEMU's processor model
    std::string cpu = "max";
    /// "KVM", "TCG (software emulation): KVM: no such device as /dev/kvm"
    std::string text;
};

/// QEMU for x86_64 of this host: a name to be looked up in PATH, or where RHEL has it. Throws Error
/// with a hint if there is none.
[[nodiscard]] std::string find_qemu();

/// Decides what executes guests. KVM is tried: a machine without a disk has to get its firmware to
/// print something within ten seconds, with one processor model after the other. Nested
/// virtualisation may offer /dev/kvm and fail at that, with SeaBIOS or with UEFI alone, which uses
/// more of the processor. Throws Error for Accelerator::kvm if KVM does not work, for `qemu` that
/// cannot be started. `uefi`: the firmware to try it
/// with, whose variables are written to; without, SeaBIOS.
/// `device` is /dev/kvm.
[[nodiscard]] Execution choose_execution(const Context& ctx, const std::string& qemu,
                                         Accelerator wanted,
                                         const std::optional<UefiFirmware>& uefi,
                                         const std::string& device = "/dev/kvm");

}  // namespace edgegpu
