#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "machine/guest.hpp"
#include "machine/rehearsal/checks.hpp"

namespace edgegpu {

/// When a check of the user's runs: where the commit that is tested runs; on the older commit,
/// before the upgrade or the rollback; on the older commit, after it has been taken back to.
enum class Moment { with_commit, before_upgrade, after_rollback };

/// A check of the user's own.
struct UserCheck {
    std::string name;
    /// an executable file's content, or a bash script
    std::string content;
    bool executable = false;
    /// who runs it
    std::string user = "root";
    Moment moment = Moment::with_commit;
};

/// The executable files of a directory and of its subdirectories "before-upgrade" and "rollback",
/// sorted by name; others, and names that begin with a dot, are left out. Throws ErrorKind::usage
/// if it cannot be read, has none, has one of more than 4 MiB, or has another subdirectory.
[[nodiscard]] std::vector<UserCheck> read_user_checks(const std::filesystem::path& directory);

/// Runs it in the guest: passed with exit status 0, skipped with 77, else failed; what it prints is
/// in the details. Throws Error if the guest is gone.
[[nodiscard]] CheckResult run_user_check(Guest& guest, const UserCheck& check);

}  // namespace edgegpu
