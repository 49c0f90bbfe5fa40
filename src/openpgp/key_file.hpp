#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A primary key or a subkey, as its certificate describes it. Times are seconds since 1970.
struct PublicKey {
    /// 16 and 40 upper-case hexadecimal digits (RFC 4880, section 12.2).
    std::string id;
    std::string fingerprint;
    std::int64_t created = 0;
    /// When it expires by its newest self-signature; 0: never.
    std::int64_t expires = 0;
    bool revoked = false;
    /// False where its flags leave out signing, and for a subkey without a binding signature.
    bool can_sign = true;
};

/// An OpenPGP certificate: what is called "a public key" in a gpgkey file.
struct Certificate {
    /// Its packets, binary, as they were in the file.
    std::string packets;
    /// The same without subkeys that are revoked or not for signing: librpm 4.18 refuses a whole
    /// certificate for one revoked subkey.
    std::string signing_packets;
    /// The primary key first, then the subkeys.
    std::vector<PublicKey> keys;
    std::vector<std::string> user_ids;

    /// The key with that id, or nullptr. A subkey of a revoked primary key is revoked, too, and
    /// expires with it at the latest.
    [[nodiscard]] const PublicKey* find(std::string_view id) const;
    /// "0123456789ABCDEF (Name <address>)".
    [[nodiscard]] std::string text() const;
};

/// The certificates of a gpgkey file: armoured blocks with any text around them, or binary packets.
/// Self-signatures are not verified here: who may change the file may as well replace it. `origin`
/// ("gpgkey URL of repository 'x'") begins the message of what is thrown: ErrorKind::fetch with its
/// own words for an empty file, an HTML page, a private key, a signature, a damaged or truncated
/// key, a file above 1 MiB, and a file without any key of version 4.
[[nodiscard]] std::vector<Certificate> read_key_file(std::string_view content,
                                                     const std::string& origin);

}  // namespace edgegpu
