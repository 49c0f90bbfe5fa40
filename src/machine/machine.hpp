#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "machine/guest.hpp"
#include "machine/virtual_machine.hpp"

namespace edgegpu {

/// What executes the guest's instructions. `automatic` is KVM if a guest starts with it within
/// seconds, else TCG.
enum class Accelerator { automatic, kvm, tcg };

/// What a medium beside the disk of a machine is in.
enum class Drive { usb_stick, cd };

/// The hardware of a machine.
struct MachineSettings {
    /// raw image; the machine writes to it
    std::filesystem::path disk;
    /// more of them, which are not started
    std::vector<std::filesystem::path> more_disks;
    /// image of an installation medium, which is started if nothing on the disk is; empty: none. As
    /// a USB stick it can be written to, as a CD it cannot.
    std::filesystem::path medium;
    Drive medium_drive = Drive::usb_stick;
    /// The firmware prefers the medium to the disk.
    bool medium_first = false;
    Firmware firmware = Firmware::uefi;
    /// UEFI with Microsoft's keys enrolled: it starts only what is signed with them.
    bool secure_boot = false;
    Accelerator accelerator = Accelerator::automatic;
    unsigned memory_mib = 2048;
    unsigned processors = 2;
    /// NUMA cells of these processors and this memory, with display adapters in place of GPUs
    /// (stand_in_devices); empty: neither
    std::vector<GuestNode> nodes;
    /// Host port that reaches the guest's port 22; 0: none.
    std::uint16_t ssh_port = 0;
    /// An existing directory for the variables of the firmware, which go with the machine, and
    /// "console.log", which stays: what the guest wrote to its first serial port, at most 64 MiB.
    std::filesystem::path work;
};

/// Throws the Error with a hint that Machine throws where there is no QEMU or no firmware: before a
/// disk is written for it.
void require_programs(Firmware firmware, bool secure_boot);

/// A machine in QEMU, which starts its disk through its firmware. It ends with the object.
///
/// A shell in the guest (guest_agent.hpp), which the disk brings in its /etc, answers `run` on the
/// second serial port; the first is the console.
class Machine : public Guest {
public:
    /// Starts it; it ends as well if the thread that does so ends. Throws Error with a hint if
    /// there is no QEMU or no firmware.
    Machine(const Context& ctx, const MachineSettings& settings);
    ~Machine() override;

    /// KVM or TCG, and for automatic why.
    [[nodiscard]] std::string accelerator() const;
    /// Waits until the guest answers and its boot has settled, with failed units or without; shows
    /// on the console of `ctx` what it is doing. Throws Error with the end of the guest's console
    /// if that does not happen within `limit`, and at once if it cannot: a kernel panic, an
    /// emergency shell, nothing to boot.
    void wait_until_up(std::chrono::seconds limit);
    /// As in Guest.
    GuestResult run(std::string_view script, std::chrono::seconds limit) override;
    /// Has the guest restart in order, and waits until it answers again. How often it starts on the
    /// way is up to its boot loader. Throws Error also if it answers without a reset of the
    /// machine.
    void reboot(std::chrono::seconds limit);
    /// Waits until the guest, which restarts by itself, answers as in wait_until_up, in another
    /// boot than when it last did so.
    void wait_for_restart(std::chrono::seconds limit);
    /// How often the guest has restarted; resets of this class, which help firmware that hangs, do
    /// not count.
    [[nodiscard]] int restarts() const noexcept;
    /// Writes what is on the graphical console as PNG; replaces the file. Throws Error.
    void screenshot(const std::filesystem::path& png);
    /// Has the guest shut down in order, and waits; ends it by force at `limit`, with a note on the
    /// console of `ctx`. Nothing else can be asked of the machine afterwards.
    void power_off(std::chrono::seconds limit);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
