#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Tags of packets (RFC 4880, section 4.3) that are used here.
enum class PacketTag : unsigned {
    signature = 2,
    secret_key = 5,
    public_key = 6,
    secret_subkey = 7,
    user_id = 13,
    public_subkey = 14
};

/// A packet; both views refer to the data that was split.
struct Packet {
    PacketTag tag{};
    std::string_view body;
    /// The packet with its header.
    std::string_view whole;
};

/// The packets of binary OpenPGP data; nothing if it is malformed or truncated, or has a packet of
/// indeterminate or partial length.
[[nodiscard]] std::optional<std::vector<Packet>> split_packets(std::string_view data);

/// The content of a signature packet of version 3 or 4 (RFC 4880, section 5.2), not verified.
struct SignaturePacket {
    /// 0 and 1: of a document; 0x10 to 0x13: of a user id; 0x18: of a subkey; 0x1f: of a key;
    /// 0x20 and 0x28: revocation of a key, of a subkey.
    unsigned type = 0;
    /// RFC 4880, sections 9.1 and 9.4.
    unsigned key_algorithm = 0;
    unsigned digest_algorithm = 0;
    /// Time of creation, seconds since 1970.
    std::int64_t made = 0;
    /// Key id, 16 upper-case hexadecimal digits, or empty.
    std::string issuer;
    /// 40 digits, or empty if the packet does not have it.
    std::string issuer_fingerprint;
    /// User id of the signer, or empty if the packet does not have it.
    std::string signer;
    /// Seconds from `made` to the expiration of the signature itself; 0: never.
    std::int64_t lifetime = 0;
    /// Seconds from the key's creation to its expiration; 0: never, or not in the packet.
    std::int64_t key_lifetime = 0;
    /// First octet of the key flags.
    std::optional<unsigned> key_flags;
};

/// Reads the body of a signature packet; nothing if it is malformed or of another version.
[[nodiscard]] std::optional<SignaturePacket> read_signature_packet(std::string_view body);

/// "SHA-256", "MD5", …; "digest 42" if it is unknown.
[[nodiscard]] std::string digest_name(unsigned algorithm);

/// Whether signatures over such a digest can be forged: MD5, SHA-1, RIPEMD-160.
[[nodiscard]] bool is_weak_digest(unsigned algorithm);

/// An unsigned number, most significant byte first.
[[nodiscard]] std::uint64_t big_endian(std::string_view bytes);

}  // namespace edgegpu
