#pragma once

#include <filesystem>
#include <string>

namespace edgegpu {

/// A UEFI firmware for x86_64 in two parts of flash memory, as distributions package it for QEMU.
struct UefiFirmware {
    std::filesystem::path code;
    /// what the variables are before the first start: to be copied
    std::filesystem::path variables;
    /// of both, as QEMU calls them: "raw", "qcow2"
    std::string code_format = "raw";
    std::string variables_format = "raw";
    /// needs system management mode, and flash memory that only this may write to
    bool needs_smm = false;
};

/// Finds the firmware by the descriptors that packages install for that (docs/interop/firmware.json
/// of QEMU, in the order of precedence given there), else where Debian, Fedora and RHEL have it.
/// `secure_boot`: with Microsoft's keys enrolled, so that it starts only what they or shim's have
/// signed; else one that checks nothing. `host` is put before all paths. Throws Error with a hint
/// if there is none.
[[nodiscard]] UefiFirmware find_uefi_firmware(bool secure_boot,
                                              const std::filesystem::path& host = "/");

/// The firmware with a copy of its variables in the file `copy`, for one machine to write to.
[[nodiscard]] UefiFirmware with_own_variables(UefiFirmware firmware,
                                              const std::filesystem::path& copy);

}  // namespace edgegpu
