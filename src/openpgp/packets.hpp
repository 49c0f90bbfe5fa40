#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Tags of packets (RFC 4880, section 4.3) that matter here.
enum class PacketTag : unsigned {
    signature = 2,
    secret_key = 5,
    public_key = 6,
    secret_subkey = 7,
    user_id = 13,
    public_subkey = 14
};

/// A packet; both views point into what was split.
struct Packet {
    PacketTag tag{};
    std::string_view body;
    /// With its header.
    std::string_view whole;
};

/// The packets of binary OpenPGP data; nothing where it is none, is truncated, or has a packet of
/// unknown length.
[[nodiscard]] std::optional<std::vector<Packet>> split_packets(std::string_view data);

/// What a signature packet of version 3 or 4 says (RFC 4880, section 5.2). Nothing is verified.
struct SignaturePacket {
    /// 0 and 1: of a document; 0x10 to 0x13: of a user id; 0x18: of a subkey; 0x1f: of a key;
    /// 0x20 and 0x28: revocation of a key, of a subkey.
    unsigned type = 0;
    unsigned key_algorithm = 0;
    unsigned digest_algorithm = 0;
    std::int64_t made = 0;
    /// 16 upper-case hexadecimal digits, or empty.
    std::string issuer;
    /// 40 digits where the packet has it, else empty.
    std::string issuer_fingerprint;
    /// User id of who signed, where the packet has it.
    std::string signer;
    /// Seconds after the key's creation at which it expires; 0: never or not said.
    std::int64_t key_lifetime = 0;
    /// First octet of the key's flags.
    std::optional<unsigned> key_flags;
};

/// Reads the body of a signature packet; nothing where it is malformed or of another version.
[[nodiscard]] std::optional<SignaturePacket> read_signature_packet(std::string_view body);

/// "SHA-256", "MD5", …; "digest 42" for what is unknown.
[[nodiscard]] std::string digest_name(unsigned algorithm);

/// Whether signatures over such a digest can be forged: MD5, SHA-1, RIPEMD-160.
[[nodiscard]] bool is_weak_digest(unsigned algorithm);

/// An unsigned number, most significant byte first.
[[nodiscard]] std::uint64_t big_endian(std::string_view bytes);

}  // namespace edgegpu
