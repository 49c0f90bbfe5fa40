#include "openpgp/packets.hpp"

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Takes bytes from the beginning of a view; fails permanently once there are too few.
class Reader {
public:
    explicit Reader(std::string_view data) : data_(data) {}

    std::string_view take(std::size_t count) {
        if (count > data_.size()) {
            good_ = false;
            data_ = {};
            return {};
        }
        const std::string_view taken = data_.substr(0, count);
        data_.remove_prefix(count);
        return taken;
    }
    std::uint64_t number(std::size_t bytes) { return big_endian(take(bytes)); }
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] bool empty() const noexcept { return data_.empty(); }
    [[nodiscard]] std::size_t left() const noexcept { return data_.size(); }

private:
    std::string_view data_;
    bool good_ = true;
};

/// Length of a packet in the new format; nothing for partial lengths, which are not allowed for
/// keys and signatures.
std::optional<std::uint64_t> new_length(Reader& reader) {
    const std::uint64_t first = reader.number(1);
    if (first < 192) {
        return first;
    }
    if (first < 224) {
        return ((first - 192) << 8U) + reader.number(1) + 192;
    }
    if (first == 255) {
        return reader.number(4);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> old_length(Reader& reader, unsigned kind) {
    constexpr unsigned indeterminate = 3;
    if (kind == indeterminate) {
        return std::nullopt;
    }
    return reader.number(std::size_t{1} << kind);
}

/// Length of a signature subpacket (RFC 4880, section 5.2.3.1).
std::uint64_t subpacket_length(Reader& reader) {
    const std::uint64_t first = reader.number(1);
    if (first < 192) {
        return first;
    }
    if (first < 255) {
        return ((first - 192) << 8U) + reader.number(1) + 192;
    }
    return reader.number(4);
}

/// Takes the issuer. False if the signature has two different ones: programs differ in which one
/// they use, and subpackets that the signature does not cover can be added by anyone.
bool take_issuer(unsigned type, std::string_view body, SignaturePacket& signature) {
    constexpr unsigned issuer = 16;
    constexpr unsigned issuer_fingerprint = 33;
    constexpr std::size_t id_digits = 16;
    if (type == issuer && body.size() == 8) {
        std::string id = upper_hexadecimal(body);
        if (!signature.issuer.empty() && signature.issuer != id) {
            return false;
        }
        signature.issuer = std::move(id);
    } else if (type == issuer_fingerprint && body.size() == 21 && body.front() == 4) {
        std::string fingerprint = upper_hexadecimal(body.substr(1));
        if (!signature.issuer_fingerprint.empty() && signature.issuer_fingerprint != fingerprint) {
            return false;
        }
        signature.issuer_fingerprint = std::move(fingerprint);
    }
    return signature.issuer.empty() || signature.issuer_fingerprint.empty() ||
           signature.issuer_fingerprint.substr(signature.issuer_fingerprint.size() - id_digits) ==
               signature.issuer;
}

/// Takes a subpacket that the signature covers. False for a second, different time of creation.
bool take_signed(unsigned type, std::string_view body, SignaturePacket& signature) {
    constexpr unsigned creation = 2;
    constexpr unsigned expiration = 3;
    constexpr unsigned key_expiration = 9;
    constexpr unsigned key_flags = 27;
    constexpr unsigned signer = 28;
    if (type == creation && body.size() == 4) {
        const auto made = static_cast<std::int64_t>(big_endian(body));
        if (signature.made != 0 && signature.made != made) {
            return false;
        }
        signature.made = made;
    } else if (type == expiration && body.size() == 4) {
        signature.lifetime = static_cast<std::int64_t>(big_endian(body));
    } else if (type == key_expiration && body.size() == 4) {
        signature.key_lifetime = static_cast<std::int64_t>(big_endian(body));
    } else if (type == key_flags && !body.empty()) {
        signature.key_flags = static_cast<unsigned char>(body.front());
    } else if (type == signer) {
        signature.signer = body;
    }
    return true;
}

/// Reads subpackets; of those that the signature does not cover, only the issuer.
bool read_subpackets(std::string_view data, bool is_signed, SignaturePacket& signature) {
    Reader reader(data);
    while (!reader.empty()) {
        const std::uint64_t length = subpacket_length(reader);
        if (length == 0) {
            return false;
        }
        std::string_view body = reader.take(length);
        if (!reader.good()) {
            return false;
        }
        constexpr unsigned critical = 0x80;
        const unsigned type = static_cast<unsigned char>(body.front()) & ~critical;
        body.remove_prefix(1);
        if (!take_issuer(type, body, signature) ||
            (is_signed && !take_signed(type, body, signature))) {
            return false;
        }
    }
    return reader.good();
}

std::optional<SignaturePacket> read_version_3(Reader& reader) {
    SignaturePacket signature;
    const std::uint64_t hashed = reader.number(1);
    signature.type = static_cast<unsigned>(reader.number(1));
    signature.made = static_cast<std::int64_t>(reader.number(4));
    signature.issuer = upper_hexadecimal(reader.take(8));
    signature.key_algorithm = static_cast<unsigned>(reader.number(1));
    signature.digest_algorithm = static_cast<unsigned>(reader.number(1));
    return reader.good() && hashed == 5 ? std::optional(signature) : std::nullopt;
}

std::optional<SignaturePacket> read_version_4(Reader& reader) {
    SignaturePacket signature;
    signature.type = static_cast<unsigned>(reader.number(1));
    signature.key_algorithm = static_cast<unsigned>(reader.number(1));
    signature.digest_algorithm = static_cast<unsigned>(reader.number(1));
    for (const bool is_signed : {true, false}) {
        const std::uint64_t size = reader.number(2);
        if (!read_subpackets(reader.take(size), is_signed, signature)) {
            return std::nullopt;
        }
    }
    if (signature.issuer.empty() && !signature.issuer_fingerprint.empty()) {
        signature.issuer = signature.issuer_fingerprint.substr(24);
    }
    // Two bytes of the digest and a number must follow.
    return reader.good() && reader.left() > 4 ? std::optional(signature) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Packet>> split_packets(std::string_view data) {
    std::vector<Packet> packets;
    Reader reader(data);
    while (!reader.empty()) {
        const std::size_t start = data.size() - reader.left();
        const auto head = static_cast<unsigned>(reader.number(1));
        constexpr unsigned always = 0x80;
        constexpr unsigned new_format = 0x40;
        if ((head & always) == 0) {
            return std::nullopt;
        }
        const bool is_new = (head & new_format) != 0;
        const auto length = is_new ? new_length(reader) : old_length(reader, head & 3U);
        if (!length) {
            return std::nullopt;
        }
        Packet packet;
        packet.tag = static_cast<PacketTag>(is_new ? head & 0x3fU : (head >> 2U) & 0xfU);
        packet.body = reader.take(*length);
        if (!reader.good()) {
            return std::nullopt;
        }
        packet.whole = data.substr(start, data.size() - reader.left() - start);
        packets.push_back(packet);
    }
    return packets;
}

std::optional<SignaturePacket> read_signature_packet(std::string_view body) {
    Reader reader(body);
    const std::uint64_t version = reader.number(1);
    if (version == 3) {
        return read_version_3(reader);
    }
    return version == 4 ? read_version_4(reader) : std::nullopt;
}

std::string digest_name(unsigned algorithm) {
    switch (algorithm) {
        case 1:
            return "MD5";
        case 2:
            return "SHA-1";
        case 3:
            return "RIPEMD-160";
        case 8:
            return "SHA-256";
        case 9:
            return "SHA-384";
        case 10:
            return "SHA-512";
        case 11:
            return "SHA-224";
        default:
            return fmt::format("digest {}", algorithm);
    }
}

bool is_weak_digest(unsigned algorithm) {
    return algorithm <= 3;
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char c : bytes) {
        number = (number << 8U) | static_cast<unsigned char>(c);
    }
    return number;
}

}  // namespace edgegpu
