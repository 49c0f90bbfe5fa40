#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// A user for whom the image has keys.
struct KeyedUser {
    std::string name;
    /// login shell, or empty if the image's passwd has no such user
    std::string shell;
    /// the keys' base64
    std::vector<std::string> keys;
    bool operator==(const KeyedUser&) const = default;
};

/// A unit that the image enables.
struct EnabledUnit {
    std::string unit;
    /// the unit that wants or requires it: "multi-user.target"
    std::string wanted_by;
    bool operator==(const EnabledUnit&) const = default;
};

/// What firewalld's default zone is open for.
struct FirewalldZone {
    std::string name;
    /// "6443/tcp"
    std::vector<std::string> ports;
    std::vector<std::string> services;
};

/// A remote that the image configures.
struct ImageRemote {
    std::string name;
    /// file of the commit that has it, as the device sees it: "/etc/ostree/remotes.d/edge.conf"
    std::string file;
    /// the file's whole text
    std::string text;
    /// commits are accepted only with a signature (gpg-verify, sign-verify)
    bool verifies = false;
};

/// What decides which checks a machine has to pass, read from its commit: what the machine says of
/// itself is what is tested.
struct CommitFacts {
    std::string commit;
    /// nothing if the commit does not list them
    std::optional<std::vector<std::string>> kernel_arguments;
    /// SELINUX of /etc/selinux/config: "enforcing"; empty without SELinux
    std::string selinux;
    /// names as the kernel spells them, sorted
    std::vector<std::string> blacklisted_modules;
    std::vector<KeyedUser> users;
    /// sorted by unit
    std::vector<EnabledUnit> enabled;
    /// the unit that runs greenboot's checks; empty without greenboot
    std::string greenboot;
    /// The image has gpu-health, which judges the GPUs at each boot.
    bool gpu_health = false;
    /// with MicroShift: directories whose kustomization.yaml it applies
    std::optional<std::vector<std::string>> bundle_roots;
    FirewalldZone firewalld;
    std::vector<ImageRemote> remotes;
    /// text of /etc/ssh/sshd_config; nothing without sshd
    std::optional<std::string> sshd_config;
    /// the program that upgrades a device is there: "edgegpu-update", "rpm-ostree", "ostree", or
    /// empty
    std::string upgrader;
    /// A machine that runs the commit sets the kernel arguments of the next one before that is
    /// started for the first time.
    bool sets_next_arguments = false;

    [[nodiscard]] bool enables(const std::string& unit) const;
};

/// Reads them. Throws Error for a malformed commit.
[[nodiscard]] CommitFacts commit_facts(const CommitView& commit);

}  // namespace edgegpu
