#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "openpgp/key_file.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// The result of checking a detached signature, best first.
enum class SignatureVerdict {
    good,             ///< matches the content, with a key of the repository
    unfit_content,    ///< made with a key of the repository, for other content
    weak_digest,      ///< MD5, SHA-1 or RIPEMD-160, which can be forged
    revoked_key,      ///< made with a revoked key
    expired_key,      ///< made after its key had expired
    expired,          ///< the signature itself has expired
    not_for_signing,  ///< made with a key that is not for signing
    refused,          ///< GnuPG rejects it for another reason, see `detail`
    other_key,        ///< made with a key that the repository does not have
    damaged,          ///< no OpenPGP signature, truncated, or a wrong checksum
    missing           ///< there is no signature
};

/// Keys of others, to name the owner of a signature's key.
struct OtherKeys {
    /// The owner, as in "that is a key of …": "repository 'x'".
    std::string owner;
    std::vector<Certificate> certificates;
};

/// The result of check_detached_signature.
struct DetachedSignature {
    SignatureVerdict verdict = SignatureVerdict::missing;
    /// Fingerprint or id of the key that the signature names, upper-case hexadecimal; may be empty.
    std::string key;
    /// User id of that key, from its certificate or the signature; may be empty.
    std::string signer;
    /// Owner of the key (OtherKeys::owner) for `other_key`; may be empty.
    std::string owner;
    /// "SHA-256", …; empty if unknown.
    std::string digest;
    /// When it was made, and when its key expires (0: never); seconds since 1970.
    std::int64_t made = 0;
    std::int64_t key_expired = 0;
    /// The reason for `damaged` and `refused`.
    std::string detail;
};

/// Checks the detached `signature` (armoured or binary) of `content` against the certificates of
/// one repository. An empty signature is `missing`; of several the best counts. Its key may have
/// expired since, but not before it was made. `others` are for the message only. GnuPG works
/// in a sandbox; no files of the user are read, no agent is started. Thread-safe. Throws Error if
/// GnuPG cannot be used.
[[nodiscard]] DetachedSignature check_detached_signature(
    const Context& ctx, std::string_view content, std::string_view signature,
    const std::vector<Certificate>& certificates, const std::vector<OtherKeys>& others = {});

/// The error for a verdict other than `good`: ErrorKind::fetch with the repository, `file`
/// ("repomd.xml"), the key and a hint. `certificates` are the repository's.
[[nodiscard]] Error signature_error(const DetachedSignature& signature,
                                    const std::string& repository, const std::string& file,
                                    const std::vector<Certificate>& certificates);

}  // namespace edgegpu
