#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delta/static_delta.hpp"
#include "machine/guest.hpp"
#include "machine/rehearsal/checks.hpp"
#include "machine/rehearsal/commit_facts.hpp"

namespace edgegpu {

/// The text of the file that configures `remote`, with this remote's section leading to `url`,
/// whose certificate is in the file `authority` of the machine. Everything else stays, signatures
/// and keys above all.
[[nodiscard]] std::string redirected_remote(const ImageRemote& remote, const std::string& url,
                                            const std::string& authority);

/// Whether the image verifies what it fetches from `remote`.
[[nodiscard]] CheckResult verification_check(const ImageRemote& remote);

/// Has the machine follow `remote` at `url`, trusting `certificate` (PEM). Throws Error.
void redirect_remote(Guest& guest, const ImageRemote& remote, const std::string& url,
                     const std::string& certificate);

/// Upgrades with the image's own program to `commit`.
[[nodiscard]] Check upgrade_check(const CommitFacts& facts, const std::string& commit);
/// What a server sent to a device for an upgrade.
struct SentFiles {
    /// relative to the repository
    std::set<std::string> files;
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
};

/// What the upgrade from one commit to another took. Failed if the device was sent neither the new
/// commit nor `delta`, which the repository has between the two, or if it has one that was not
/// used.
[[nodiscard]] CheckResult download_check(const std::string& from, const std::string& to,
                                         const std::optional<StaticDelta>& delta,
                                         const SentFiles& sent);
/// Whether the deployments of these commits are on the machine.
[[nodiscard]] Check deployments_check(const std::vector<std::string>& commits);
/// Whether the boot is marked as good and the boot loader counts no more.
[[nodiscard]] Check boot_counting_check();

/// A change in /etc like those that a machine's operator makes. Throws Error.
void make_change(Guest& guest);
/// Whether that change is still there.
[[nodiscard]] Check kept_change_check();

/// A health check for greenboot by which only `commit` is good. Throws Error.
void put_red_check(Guest& guest, const std::string& commit);

/// The commit that the guest runs, and the number of its boot; empty if it does not say.
struct BootState {
    std::string commit;
    std::string boot;
};
[[nodiscard]] BootState boot_state(Guest& guest);

}  // namespace edgegpu
