#include "openpgp/detached_signature.hpp"

#include <algorithm>

#include "openpgp/armor.hpp"
#include "openpgp/gnupg.hpp"
#include "openpgp/packets.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

DetachedSignature damaged(std::string why) {
    DetachedSignature answer;
    answer.verdict = SignatureVerdict::damaged;
    answer.detail = std::move(why);
    return answer;
}

/// The binary packets of a signature file; `problem` is set to the reason if there are none.
std::string signature_packets(std::string_view file, std::string& problem) {
    constexpr unsigned binary = 0x80;
    if ((static_cast<unsigned char>(file.front()) & binary) != 0) {
        return std::string(file);
    }
    std::string packets;
    for (const ArmorBlock& block : read_armor(file)) {
        if (block.type != "SIGNATURE") {
            problem = "it contains a PGP " + block.type;
            continue;
        }
        if (!block.problem.empty()) {
            problem = block.problem;
            return "";
        }
        packets += block.data;
    }
    if (packets.empty() && problem.empty()) {
        problem = is_web_page(file) ? "it is a web page (HTML)" : "it has no OpenPGP signature";
    }
    return packets;
}

/// The certificates that contain the key.
std::vector<const Certificate*> holders_of(const std::string& id,
                                           const std::vector<Certificate>& certificates) {
    return pointers_to(certificates, [&](const Certificate& certificate) {
        return !id.empty() && certificate.find(id) != nullptr;
    });
}

std::string name_of(const Certificate& certificate) {
    return certificate.user_ids.empty() ? "" : certificate.user_ids.front();
}

void name_stranger(const SignaturePacket& packet, const std::vector<OtherKeys>& others,
                   DetachedSignature& answer) {
    answer.verdict = SignatureVerdict::other_key;
    for (const OtherKeys& other : others) {
        const auto holders = holders_of(packet.issuer, other.certificates);
        if (!holders.empty()) {
            answer.owner = other.owner;
            answer.signer = name_of(*holders.front());
            return;
        }
    }
}

/// Checks whether the key may have made the signature; `good` if nothing is wrong with the key.
SignatureVerdict judge_key(const SignaturePacket& packet,
                           const std::vector<const Certificate*>& holders,
                           DetachedSignature& answer) {
    bool can_sign = false;
    bool in_time = false;
    for (const Certificate* certificate : holders) {
        const PublicKey& key = *certificate->find(packet.issuer);
        if (key.revoked) {
            return SignatureVerdict::revoked_key;
        }
        can_sign = can_sign || key.can_sign;
        in_time = in_time || key.expires == 0 || packet.made < key.expires;
        answer.key_expired = std::max(answer.key_expired, key.expires);
    }
    if (!can_sign) {
        return SignatureVerdict::not_for_signing;
    }
    return in_time ? SignatureVerdict::good : SignatureVerdict::expired_key;
}

SignatureVerdict verdict_of(GnupgAnswer answer) {
    switch (answer) {
        case GnupgAnswer::fits:
            return SignatureVerdict::good;
        case GnupgAnswer::expired:
            return SignatureVerdict::expired;
        case GnupgAnswer::bad:
            return SignatureVerdict::unfit_content;
        case GnupgAnswer::revoked:
            return SignatureVerdict::revoked_key;
        case GnupgAnswer::refused:
            break;
    }
    return SignatureVerdict::refused;
}

DetachedSignature check_one(const Context& ctx, std::string_view content, const Packet& whole,
                            const std::vector<Certificate>& certificates,
                            const std::vector<OtherKeys>& others) {
    const auto packet = read_signature_packet(whole.body);
    constexpr unsigned of_text = 1;
    if (!packet || packet->type > of_text) {
        return damaged("it is not a signature of a file, or of an unknown version");
    }
    if (packet->issuer.empty()) {
        return damaged("it does not say which key it was made with");
    }
    DetachedSignature answer;
    answer.key = packet->issuer_fingerprint.empty() ? packet->issuer : packet->issuer_fingerprint;
    answer.signer = packet->signer;
    answer.digest = digest_name(packet->digest_algorithm);
    answer.made = packet->made;
    const auto holders = holders_of(packet->issuer, certificates);
    if (holders.empty()) {
        name_stranger(*packet, others, answer);
        return answer;
    }
    answer.signer = name_of(*holders.front());
    answer.verdict = is_weak_digest(packet->digest_algorithm) ? SignatureVerdict::weak_digest
                                                              : judge_key(*packet, holders, answer);
    if (answer.verdict == SignatureVerdict::good) {
        const std::string keys = sum_of(holders, &Certificate::packets);
        answer.verdict = verdict_of(ask_gnupg(ctx, content, whole.whole, keys, answer.detail));
    }
    return answer;
}

std::string key_text(const DetachedSignature& signature) {
    return signature.signer.empty() ? signature.key
                                    : fmt::format("{} ({})", signature.key, signature.signer);
}

Error other_key_error(const DetachedSignature& signature, const std::string& repository,
                      const std::string& file, const std::vector<Certificate>& certificates) {
    Error failure = error(ErrorKind::fetch,
                          "repository '{}': {} was signed with key {}, which is not in its gpgkey",
                          repository, file, signature.key);
    if (!signature.signer.empty()) {
        failure.traced("the key belongs to " + signature.signer);
    }
    if (!signature.owner.empty()) {
        failure.traced("that is a key of " + signature.owner);
    }
    for (const Certificate& certificate : certificates) {
        failure.traced("its gpgkey has " + certificate.text());
    }
    return failure.hinted(signature.owner.empty()
                              ? "check gpgkey: if the repository has a new key, get it from the "
                                "maintainer of the repository"
                              : fmt::format("check gpgkey and the URL: is this the metadata of {}?",
                                            signature.owner));
}

Error refusal(const DetachedSignature& signature, const std::string& repository,
              const std::string& file) {
    const auto refused = [&](const std::string& why) {
        return error(ErrorKind::fetch, "repository '{}': the signature of {} is refused: {}",
                     repository, file, why);
    };
    switch (signature.verdict) {
        case SignatureVerdict::weak_digest:
            return refused(
                       fmt::format("it was made over {}, which can be forged", signature.digest))
                .hinted(
                    "the maintainer of the repository has to sign with SHA-256 or stronger: gpg "
                    "--digest-algo SHA256");
        case SignatureVerdict::revoked_key:
            return refused("its key was revoked")
                .hinted("a revoked key may be compromised: ask the maintainer of the repository");
        case SignatureVerdict::expired_key:
            return refused(fmt::format("it was made on {}, after its key had expired on {}",
                                       day_text(signature.made), day_text(signature.key_expired)))
                .hinted(
                    "if the key's validity was extended, get it again from the maintainer of the "
                    "repository");
        case SignatureVerdict::expired:
            return refused("it has expired")
                .hinted("try another mirror; this one may be out of date");
        case SignatureVerdict::not_for_signing:
            return refused("its key is not for signing")
                .hinted("report this to the maintainer of the repository");
        default:
            return refused(signature.detail).hinted("check gpgkey of the repository");
    }
}

}  // namespace

DetachedSignature check_detached_signature(const Context& ctx, std::string_view content,
                                           std::string_view signature,
                                           const std::vector<Certificate>& certificates,
                                           const std::vector<OtherKeys>& others) {
    if (signature.empty()) {
        return {};
    }
    constexpr std::size_t largest = 1U << 20U;
    if (signature.size() > largest) {
        return damaged("it is too large");
    }
    std::string problem;
    const std::string data = signature_packets(signature, problem);
    const auto packets = split_packets(data);
    if (!problem.empty() || !packets) {
        return damaged(problem.empty() ? "it is truncated or not OpenPGP data" : problem);
    }
    DetachedSignature best = damaged("it has no OpenPGP signature");
    // Limited, since GnuPG is run for each signature.
    std::size_t left = 16;
    for (const Packet& packet : *packets) {
        if (packet.tag != PacketTag::signature || left == 0) {
            continue;
        }
        --left;
        DetachedSignature answer = check_one(ctx, content, packet, certificates, others);
        if (answer.verdict <= best.verdict) {
            best = std::move(answer);
        }
        if (best.verdict == SignatureVerdict::good) {
            break;
        }
    }
    return best;
}

Error signature_error(const DetachedSignature& signature, const std::string& repository,
                      const std::string& file, const std::vector<Certificate>& certificates) {
    switch (signature.verdict) {
        case SignatureVerdict::missing:
            return error(ErrorKind::fetch,
                         "repository '{}': its metadata is not signed: no repodata/{}.asc",
                         repository, file)
                .hinted(
                    "does its vendor sign packages only, as Red Hat does? docs/repositories.md "
                    "says how such a repository is set up; its packages are verified either way");
        case SignatureVerdict::damaged:
            return error(ErrorKind::fetch, "repository '{}': the signature of {} is damaged: {}",
                         repository, file, signature.detail)
                .hinted(
                    "try again, then try another mirror; if that does not help, report this to the "
                    "maintainer of the repository");
        case SignatureVerdict::unfit_content:
            return error(ErrorKind::fetch, "repository '{}': the signature does not match {}",
                         repository, file)
                .traced("signed with its key " + key_text(signature))
                .traced("either the file was tampered with, or the mirror is being updated")
                .hinted("try again in a few minutes, then try another mirror");
        case SignatureVerdict::other_key:
            return other_key_error(signature, repository, file, certificates);
        default:
            return refusal(signature, repository, file).traced("its key: " + key_text(signature));
    }
}

}  // namespace edgegpu
