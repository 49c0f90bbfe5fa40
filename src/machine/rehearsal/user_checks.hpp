#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "machine/guest.hpp"
#include "machine/rehearsal/checks.hpp"

namespace edgegpu {

/// A check of the user's own: a program that runs in the guest.
struct UserCheck {
    std::string name;
    /// a program with "#!" or of ELF, else a bash script
    std::string content;
    /// who runs it
    std::string user = "root";
    std::chrono::seconds limit{600};
    /// names of the phases that it belongs to
    std::vector<std::string> phases{"boot", "upgrade"};
};

/// The executable files of a directory and of its subdirectories "before-upgrade" (also before the
/// upgrade that is taken back) and "rollback", sorted by name; others, and names that begin with a
/// dot, are left out. Throws ErrorKind::usage if it cannot be read, has none, has one that cannot
/// be read or has more than 4 MiB, or has another subdirectory.
[[nodiscard]] std::vector<UserCheck> read_user_checks(const std::filesystem::path& directory);

/// Throws ErrorKind::usage if two of one phase have the same name, so that a report would not tell
/// them apart.
void require_different_names(const std::vector<UserCheck>& checks);

/// What a check is told, as environment variables.
struct UserCheckPlace {
    /// EDGEGPU_PHASE: "boot", "before-upgrade", …
    std::string phase;
    /// EDGEGPU_FIRMWARE: "uefi" or "bios"
    std::string firmware;
    /// EDGEGPU_COMMIT: that the machine should run
    std::string commit;
};

/// Runs it in the guest: passed with exit status 0, skipped with 77, else failed; what it prints is
/// in the details, after a failure with the journal of that time. Throws Error if the guest is
/// gone.
[[nodiscard]] CheckResult run_user_check(Guest& guest, const UserCheck& check,
                                         const UserCheckPlace& place);

}  // namespace edgegpu
