#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "machine/machine.hpp"
#include "machine/rehearsal/checks.hpp"
#include "machine/rehearsal/user_checks.hpp"
#include "machine/virtual_machine.hpp"

namespace edgegpu {

/// What is to be rehearsed.
struct RehearsalRequest {
    std::filesystem::path repo;
    /// a ref, or a commit that a ref has
    std::string ref;
    /// the commit to upgrade from, in the same forms; empty: only boot
    std::string from;
    /// with `from`: an upgrade that goes well
    bool upgrade = true;
    /// with `from`: an upgrade that has to be taken back
    bool rollback = false;
    std::vector<UserCheck> user_checks;
    std::vector<AllowedDenial> allowed;
    /// of the device's disk, as far as the commit that it begins with has their mount points
    std::vector<Volume> volumes;
    /// GPUs of a host in whose place the machine has display adapters
    std::vector<HostGpu> gpus;
    Firmware firmware = Firmware::uefi;
    Accelerator accelerator = Accelerator::automatic;
    /// an existing empty directory for disks, sockets, keys and consoles
    std::filesystem::path work;
};

/// The checks of a machine in one state.
struct Phase {
    /// "boot", "before-upgrade", "upgrade", "next-boot", "before-rollback", "rollback"
    std::string name;
    /// the commit that should run
    std::string commit;
    std::vector<CheckResult> results;
    double seconds = 0;
};

/// What a rehearsal found.
struct Rehearsal {
    std::string repository;
    std::string ref;
    std::string commit;
    /// empty without an upgrade
    std::string from;
    Firmware firmware = Firmware::uefi;
    /// "KVM", "TCG (why)"
    std::string accelerator;
    std::vector<Phase> phases;
    /// consoles and screenshots, in RehearsalRequest::work
    std::vector<std::filesystem::path> records;

    [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Boots the commit in a machine and checks it; with `from`, boots that one, upgrades it as a
/// device would, and checks the result; with `rollback`, upgrades another with a health check
/// that fails, so that the boot loader has to return to the commit before. The repository is only
/// read. A machine that does not start, or ends, is a failed check; throws Error for what prevents
/// the rehearsal itself, ErrorKind::usage for commits that are not there.
[[nodiscard]] Rehearsal rehearse(const Context& ctx, const RehearsalRequest& request);

}  // namespace edgegpu
