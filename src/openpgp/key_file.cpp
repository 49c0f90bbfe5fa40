#include "openpgp/key_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <openssl/evp.h>

#include "openpgp/armor.hpp"
#include "openpgp/packets.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t largest_file = 1U << 20U;
constexpr std::string_view get_public_key = "give the public key: gpg --armor --export NAME";

/// SHA-1 of the packet as in RFC 4880, section 12.2: an identifier, without security relevance.
std::string fingerprint_of(std::string_view body) {
    std::string framed{'\x99', static_cast<char>(body.size() >> 8U),
                       static_cast<char>(body.size() & 0xffU)};
    framed += body;
    std::array<char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(framed.data(), framed.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   &size, EVP_sha1(), nullptr) != 1) {
        throw error("SHA-1 is not available, which OpenPGP requires for fingerprints of keys");
    }
    return upper_hexadecimal(std::string_view(digest.data(), size));
}

constexpr unsigned ecdh = 18;

/// RFC 6637, section 5, and EdDSA.
bool has_curve(unsigned algorithm) {
    constexpr unsigned ecdsa = 19;
    constexpr unsigned eddsa = 22;
    return algorithm == ecdh || algorithm == ecdsa || algorithm == eddsa;
}

bool algorithm_signs(unsigned algorithm) {
    constexpr unsigned rsa_encrypt = 2;
    constexpr unsigned elgamal = 16;
    return algorithm != rsa_encrypt && algorithm != elgamal && algorithm != ecdh;
}

/// The key in a packet; nothing if it is not of version 4.
std::optional<PublicKey> read_public_key(const Packet& packet) {
    constexpr std::size_t least = 8;
    if (packet.body.size() < least || packet.body.size() > 0xffff || packet.body.front() != 4) {
        return std::nullopt;
    }
    PublicKey key;
    key.fingerprint = fingerprint_of(packet.body);
    key.id = key.fingerprint.substr(24);
    key.created = static_cast<std::int64_t>(big_endian(packet.body.substr(1, 4)));
    key.algorithm = static_cast<unsigned char>(packet.body[5]);
    key.can_sign = algorithm_signs(key.algorithm);
    if (has_curve(key.algorithm)) {
        const std::size_t size = static_cast<unsigned char>(packet.body[6]);
        key.curve = upper_hexadecimal(packet.body.substr(7, size));
    }
    return key;
}

/// Builds one certificate from its packets in order.
class CertificateReader {
public:
    /// `is_usable` is false for a primary key of another version.
    explicit CertificateReader(const Packet& primary) {
        if (const auto key = read_public_key(primary)) {
            certificate_.keys.push_back(*key);
            newest_.push_back(-1);
            parts_.emplace_back(primary.whole);
        }
        certificate_.packets = primary.whole;
    }

    [[nodiscard]] bool is_usable() const noexcept { return !certificate_.keys.empty(); }

    void add(const Packet& packet) {
        certificate_.packets += packet.whole;
        if (!is_usable()) {
            return;
        }
        if (packet.tag == PacketTag::public_subkey) {
            add_subkey(packet);
            return;
        }
        if (skipping_) {
            return;
        }
        parts_.back() += packet.whole;
        if (packet.tag == PacketTag::user_id) {
            certificate_.user_ids.emplace_back(packet.body);
        } else if (packet.tag == PacketTag::signature) {
            if (const auto signature = read_signature_packet(packet.body)) {
                add_signature(*signature);
            }
        }
    }

    Certificate finish() {
        const PublicKey& primary = certificate_.keys.front();
        certificate_.signing_packets = parts_.front();
        for (std::size_t i = 1; i < certificate_.keys.size(); ++i) {
            PublicKey& key = certificate_.keys[i];
            key.can_sign = key.can_sign && newest_[i] >= 0;
            if (key.can_sign && !key.revoked) {
                certificate_.signing_packets += parts_[i];
            }
            key.revoked = key.revoked || primary.revoked;
            if (primary.expires != 0) {
                key.expires =
                    key.expires == 0 ? primary.expires : std::min(key.expires, primary.expires);
            }
        }
        return std::move(certificate_);
    }

private:
    void add_subkey(const Packet& packet) {
        const auto key = read_public_key(packet);
        skipping_ = !key;
        if (key) {
            certificate_.keys.push_back(*key);
            newest_.push_back(-1);
            parts_.emplace_back(packet.whole);
        }
    }

    void add_signature(const SignaturePacket& signature) {
        constexpr unsigned key_revocation = 0x20;
        constexpr unsigned subkey_revocation = 0x28;
        constexpr unsigned subkey_binding = 0x18;
        constexpr unsigned direct = 0x1f;
        // Only self-signatures define how a key may be used.
        if (signature.issuer != certificate_.keys.front().id) {
            return;
        }
        const bool of_subkey = certificate_.keys.size() > 1;
        const bool of_user_id = signature.type >= 0x10 && signature.type <= 0x13;
        if (signature.type == key_revocation) {
            certificate_.keys.front().revoked = true;
        } else if (of_subkey && signature.type == subkey_revocation) {
            certificate_.keys.back().revoked = true;
        } else if (of_subkey ? signature.type == subkey_binding
                             : of_user_id || signature.type == direct) {
            take_terms(signature);
        }
    }

    /// Takes expiration and flags from a self-signature; the newest one counts.
    void take_terms(const SignaturePacket& signature) {
        PublicKey& key = certificate_.keys.back();
        if (signature.made < newest_.back()) {
            return;
        }
        newest_.back() = signature.made;
        key.expires = signature.key_lifetime == 0 ? 0 : key.created + signature.key_lifetime;
        if (signature.key_flags) {
            constexpr unsigned for_signing = 2;
            key.can_sign = (*signature.key_flags & for_signing) != 0;
        }
    }

    Certificate certificate_;
    /// Per key, the time of its newest self-signature; -1 if there is none yet.
    std::vector<std::int64_t> newest_;
    /// Per key, its packet and those that follow it.
    std::vector<std::string> parts_;
    /// The current subkey has another version: packets that follow it are ignored.
    bool skipping_ = false;
};

Error damaged(const std::string& origin, std::string_view why) {
    return error(ErrorKind::fetch, "{}: a damaged OpenPGP key: {}", origin, why)
        .hinted("get the key again from the maintainer of the repository");
}

Error private_key(const std::string& origin) {
    return error(ErrorKind::fetch, "{}: contains a private key", origin)
        .hinted(fmt::format("do not publish it, but {}", get_public_key));
}

void read_certificates(std::string_view data, const std::string& origin,
                       std::vector<Certificate>& certificates) {
    const auto packets = split_packets(data);
    if (!packets) {
        throw damaged(origin, "it is truncated or not OpenPGP data");
    }
    std::optional<CertificateReader> reader;
    const auto finish = [&] {
        if (reader && reader->is_usable()) {
            certificates.push_back(reader->finish());
        }
        reader.reset();
    };
    for (const Packet& packet : *packets) {
        if (packet.tag == PacketTag::secret_key || packet.tag == PacketTag::secret_subkey) {
            throw private_key(origin);
        }
        if (packet.tag == PacketTag::public_key) {
            finish();
            reader.emplace(packet);
        } else if (reader) {
            reader->add(packet);
        }
    }
    finish();
}

void read_armored(std::string_view content, const std::string& origin,
                  std::vector<Certificate>& certificates) {
    const std::vector<ArmorBlock> blocks = read_armor(content);
    for (const ArmorBlock& block : blocks) {
        if (block.type.starts_with("PRIVATE KEY")) {
            throw private_key(origin);
        }
        if (!block.type.starts_with("PUBLIC KEY")) {
            continue;
        }
        if (!block.problem.empty()) {
            throw damaged(origin, block.problem);
        }
        read_certificates(block.data, origin, certificates);
    }
    if (!certificates.empty()) {
        return;
    }
    if (blocks.empty() || blocks.front().type.starts_with("PUBLIC KEY")) {
        return;
    }
    throw error(ErrorKind::fetch, "{}: contains a PGP {}, not a key", origin, blocks.front().type)
        .hinted(std::string(get_public_key));
}

}  // namespace

const PublicKey* Certificate::find(std::string_view id) const {
    const auto found =
        std::ranges::find_if(keys, [&](const PublicKey& key) { return key.id == id; });
    return found == keys.end() ? nullptr : &*found;
}

std::string Certificate::text() const {
    const std::string id = keys.empty() ? "unknown" : keys.front().id;
    return user_ids.empty() ? id : fmt::format("{} ({})", id, user_ids.front());
}

std::vector<Certificate> read_key_file(std::string_view content, const std::string& origin) {
    if (trim(content).empty()) {
        throw error(ErrorKind::fetch, "{}: the file is empty", origin)
            .hinted(std::string(get_public_key));
    }
    if (content.size() > largest_file) {
        throw error(ErrorKind::fetch, "{}: {} bytes exceed the limit for a key file", origin,
                    content.size())
            .hinted("a file of keys has at most 1 MiB");
    }
    if (is_web_page(content)) {
        throw error(ErrorKind::fetch, "{}: a web page (HTML), not a key", origin)
            .hinted("open the address in a browser and look for the address of the key itself");
    }
    std::vector<Certificate> certificates;
    constexpr unsigned binary = 0x80;
    const bool is_binary = (static_cast<unsigned char>(content.front()) & binary) != 0 &&
                           !content.starts_with("\xef\xbb\xbf");
    if (is_binary) {
        read_certificates(content, origin, certificates);
    } else {
        if (content.starts_with("\xef\xbb\xbf")) {
            content.remove_prefix(3);
        }
        read_armored(content, origin, certificates);
    }
    if (certificates.empty()) {
        throw error(ErrorKind::fetch, "{}: no OpenPGP public key (version 4) in it", origin)
            .hinted(std::string(get_public_key));
    }
    return certificates;
}

std::string binary_keyring(const std::vector<Certificate>& certificates) {
    std::string packets;
    for (const Certificate& certificate : certificates) {
        packets += certificate.packets;
    }
    return packets;
}

}  // namespace edgegpu
