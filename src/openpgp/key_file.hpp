#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A primary key or a subkey of a certificate. Times are seconds since 1970.
struct PublicKey {
    /// 16 upper-case hexadecimal digits (RFC 4880, section 12.2).
    std::string id;
    /// 40 upper-case hexadecimal digits.
    std::string fingerprint;
    std::int64_t created = 0;
    /// When it expires according to its newest self-signature; 0: never.
    std::int64_t expires = 0;
    bool revoked = false;
    /// False if its flags exclude signing, and for a subkey without a binding signature.
    bool can_sign = true;
    /// RFC 4880, section 9.1.
    unsigned algorithm = 0;
    /// Object identifier of its elliptic curve (RFC 6637, section 11), upper-case hexadecimal;
    /// empty for other algorithms.
    std::string curve;
};

/// An OpenPGP certificate, one "public key" of a gpgkey file.
struct Certificate {
    /// Its binary packets, as in the file.
    std::string packets;
    /// The same without subkeys that are revoked or not for signing: librpm 4.18 rejects a whole
    /// certificate because of one revoked subkey.
    std::string signing_packets;
    /// The primary key first, then the subkeys. A subkey of a revoked primary key is revoked as
    /// well, and expires with it at the latest.
    std::vector<PublicKey> keys;
    std::vector<std::string> user_ids;

    /// The key with this id, or nullptr.
    [[nodiscard]] const PublicKey* find(std::string_view id) const;
    /// "0123456789ABCDEF (Name <address>)".
    [[nodiscard]] std::string text() const;
};

/// The certificates in a gpgkey file: armoured blocks with any text around them, or binary packets.
/// Self-signatures are not verified, since anyone who can modify the file can replace it. Throws
/// ErrorKind::fetch with `origin` ("gpgkey URL of repository 'x'") for an empty file, an HTML page,
/// a private key, a signature, a damaged key, more than 1 MiB, and no key of version 4.
[[nodiscard]] std::vector<Certificate> read_key_file(std::string_view content,
                                                     const std::string& origin);

/// The certificates one after the other, binary: what every GnuPG reads. It does not read all
/// armor that `read_key_file` reads: indented blocks, and some without a checksum.
[[nodiscard]] std::string binary_keyring(const std::vector<Certificate>& certificates);

}  // namespace edgegpu
