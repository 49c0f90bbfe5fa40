#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "disk/injection.hpp"
#include "execution/context.hpp"
#include "machine/rehearsal/checks.hpp"
#include "machine/rehearsal/commit_facts.hpp"

namespace edgegpu {

/// What a disk needs so that its sshd accepts certificates of the authority `ca` (the line of its
/// public key): a drop-in where sshd_config includes them, else a changed sshd_config; the image's
/// own settings stay. Nothing without sshd.
[[nodiscard]] Injection trust_authority(const CommitFacts& facts, const std::string& ca);

/// A key for one rehearsal, signed by an authority of OpenSSH that is made for it and that nobody
/// else has. The image's own keys are of no use for a login: their private halves are elsewhere.
class TestCredential {
public:
    /// Makes authority, key and a certificate for `users`, valid for a day, in the existing
    /// directory `place`. Throws Error with a hint if there is no ssh-keygen.
    TestCredential(const Context& ctx, std::filesystem::path place,
                   const std::vector<KeyedUser>& users);

    /// Of the authority, one line.
    [[nodiscard]] const std::string& authority() const noexcept { return authority_; }

    /// Logs in as `user` over the port of loopback with the program ssh.
    [[nodiscard]] CheckResult log_in(const Context& ctx, const KeyedUser& user,
                                     std::uint16_t port) const;

private:
    std::filesystem::path place_;
    std::string authority_;
};

/// A TCP port of loopback that nobody listens on at the moment. Throws Error.
[[nodiscard]] std::uint16_t free_port();

}  // namespace edgegpu
