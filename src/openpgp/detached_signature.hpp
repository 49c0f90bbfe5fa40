#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openpgp/key_file.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// What a detached signature turned out to be; the better ones first.
enum class SignatureVerdict {
    good,             ///< fits the content and was made with a key of the repository
    unfit_content,    ///< made with a key of the repository, for other content
    weak_digest,      ///< MD5, SHA-1 or RIPEMD-160, which can be forged
    revoked_key,      ///< made with a key that its owner revoked
    expired_key,      ///< made after its key had expired
    expired,          ///< the signature itself says until when it holds
    not_for_signing,  ///< made with a subkey that is not for signatures
    refused,          ///< GnuPG refuses it for another reason, see `detail`
    other_key,        ///< made with a key that is none of the repository's
    damaged,          ///< no OpenPGP signature, truncated, or its checksum is wrong
    missing           ///< there is none
};

/// Keys that are not the repository's, to say whose key a signature was made with.
struct OtherKeys {
    /// As it reads in "that is a key of …": "repository 'x'".
    std::string owner;
    std::vector<Certificate> certificates;
};

/// The answer of check_detached_signature.
struct DetachedSignature {
    SignatureVerdict verdict = SignatureVerdict::missing;
    /// Key id or fingerprint that the signature names, in upper-case hexadecimal; may be empty.
    std::string key;
    /// User id of that key, where the key is known or the signature names it; may be empty.
    std::string signer;
    /// Owner of the key (OtherKeys::owner) where it is another's; may be empty.
    std::string owner;
    /// "SHA-256", …; empty where it is not known.
    std::string digest;
    /// When it was made, and when its key expired (0: never); seconds since 1970.
    std::int64_t made = 0;
    std::int64_t key_expired = 0;
    /// What else is to say: the reason for `damaged` and `refused`.
    std::string detail;
};

/// Checks the detached `signature` (armoured or binary) of `content` against the certificates of
/// one repository. An empty signature is `missing`. Of several signatures the best counts. A key
/// may have expired since, not before it signed. `others` only serve the message. GnuPG works in a
/// directory of its own that is removed; nothing of the user's is read, no agent is started. May be
/// called from many threads, which wait for one another. Throws Error where GnuPG cannot be used.
[[nodiscard]] DetachedSignature check_detached_signature(
    std::string_view content, std::string_view signature,
    const std::vector<Certificate>& certificates, const std::vector<OtherKeys>& others = {});

/// What a user is told of a verdict other than `good`: ErrorKind::fetch naming the repository,
/// `file` ("repomd.xml"), the key and the way out. `certificates` are the repository's.
[[nodiscard]] Error signature_error(const DetachedSignature& signature,
                                    const std::string& repository, const std::string& file,
                                    const std::vector<Certificate>& certificates);

}  // namespace edgegpu
