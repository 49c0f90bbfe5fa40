#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "openpgp/key_file.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// The key with which devices verify what they pull, `gpg_public_key` of `[ostree]`.
class DeviceKey {
public:
    /// Reads the file; nothing is checked if the blueprint names none. Throws ErrorKind::usage at
    /// the line of `[ostree]` if no commit could ever be verified with it: a file without a public
    /// key, all of its keys expired (at `now`, seconds since 1970), revoked or of a kind that the
    /// devices' GnuPG does not know, or `sign` is the id or fingerprint of a key that is not in it.
    DeviceKey(const Blueprint& blueprint, std::int64_t now);

    /// Throws ErrorKind::usage unless it verifies `trial`, a signature with the key `sign`, today
    /// and later; also if GnuPG's configuration adds signatures of other keys.
    void require(const Context& ctx, const TrialSignature& trial) const;
    /// What is accepted but ends some day, each beginning "FILE:LINE:COLUMN: ".
    [[nodiscard]] std::vector<std::string> warnings() const;
    /// The same for the key that made the trial, which may be a subkey.
    [[nodiscard]] std::vector<std::string> warnings(const TrialSignature& trial) const;
    /// Whether devices take `signature` (binary) of a commit for one by the key of `trial` that is
    /// valid now. Without a file it is not verified, only whose it is and that it has not expired.
    [[nodiscard]] bool accepts(const Context& ctx, std::string_view commit,
                               std::string_view signature, const TrialSignature& trial) const;
    /// The keys as the image has them; empty if the blueprint names no file.
    [[nodiscard]] std::string keyring() const { return binary_keyring(certificates_); }

private:
    /// Throws ErrorKind::usage for what GnuPG's configuration does to signatures.
    void require_plain(const TrialSignature& trial) const;
    [[nodiscard]] Error refused(std::string_view reason) const;
    /// Why it does not verify the signature, or empty.
    [[nodiscard]] std::string fault_of(const Context& ctx, const TrialSignature& trial) const;

    const OstreeRequest& ostree_;
    bool fips_;
    std::int64_t now_;
    /// As the user knows it.
    std::filesystem::path file_;
    std::vector<Certificate> certificates_;
};

/// Why devices with these key files (path → content), those of the parent commit, cannot verify
/// `trial`; empty if they can, or if there are none.
[[nodiscard]] std::string refusal_by_parent(const Context& ctx,
                                            const std::map<std::string, std::string>& key_files,
                                            const TrialSignature& trial);

/// Why the devices' GnuPG cannot verify signatures of this key, or empty. `fips`: in FIPS mode.
[[nodiscard]] std::string unverifiable_kind(const PublicKey& key, bool fips);

}  // namespace edgegpu
