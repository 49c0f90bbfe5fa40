#include "commit/device_key.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "blueprint/stored_source.hpp"
#include "openpgp/detached_signature.hpp"
#include "openpgp/packets.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_key_file = 1U << 20U;
/// A key that expires within this time, in seconds, is a warning.
constexpr std::int64_t soon = 180LL * 86400;

/// What may follow "sign": an id or fingerprint as GnuPG takes it, "0x…" or "…!" included, in
/// upper case; empty for a name or address.
std::string key_number(std::string_view sign) {
    if (sign.starts_with("0x") || sign.starts_with("0X")) {
        sign.remove_prefix(2);
    }
    if (sign.ends_with('!')) {
        sign.remove_suffix(1);
    }
    std::string number(sign);
    for (char& c : number) {
        c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    const bool length = number.size() == 8 || number.size() == 16 || number.size() == 40;
    return length && number.find_first_not_of("0123456789ABCDEF") == std::string::npos
               ? number
               : std::string();
}

bool has_key(const Certificate& certificate, std::string_view number) {
    return std::ranges::any_of(
        certificate.keys, [&](const PublicKey& key) { return key.fingerprint.ends_with(number); });
}

/// Why a key signs nothing that devices accept, or empty.
std::string unusable(const PublicKey& key, bool fips, std::int64_t now) {
    if (!key.can_sign) {
        return "is not for signing";
    }
    if (key.revoked) {
        return "is revoked";
    }
    if (key.expires != 0 && key.expires <= now) {
        return "expired on " + day_text(key.expires);
    }
    return unverifiable_kind(key, fips);
}

/// The signatures in binary OpenPGP data.
std::vector<SignaturePacket> read_signatures(std::string_view data) {
    std::vector<SignaturePacket> signatures;
    for (const Packet& packet : split_packets(data).value_or(std::vector<Packet>())) {
        if (const auto read = read_signature_packet(packet.body)) {
            signatures.push_back(*read);
        }
    }
    return signatures;
}

/// "30 days", "3600 seconds".
std::string duration_text(std::int64_t seconds) {
    constexpr std::int64_t day = 86400;
    return seconds % day != 0 ? fmt::format("{} seconds", seconds)
                              : fmt::format("{} day{}", seconds / day, seconds == day ? "" : "s");
}

/// What is wrong with a signature of the trial, or empty.
std::string trial_fault(const DetachedSignature& signature) {
    switch (signature.verdict) {
        case SignatureVerdict::good:
            return {};
        case SignatureVerdict::revoked_key:
            return "is revoked";
        case SignatureVerdict::expired_key:
            return "expired on " + day_text(signature.key_expired);
        case SignatureVerdict::not_for_signing:
            return "is not for signing";
        case SignatureVerdict::weak_digest:
            return fmt::format("signs with {}, which can be forged", signature.digest);
        case SignatureVerdict::other_key:
            return "is not in it";
        default:
            return fmt::format("makes signatures that it does not verify{}{}",
                               signature.detail.empty() ? "" : ": ", signature.detail);
    }
}

}  // namespace

DeviceKey::DeviceKey(const Blueprint& blueprint, std::int64_t now)
    : ostree_(blueprint.ostree),
      fips_(blueprint.fips.enabled),
      now_(now),
      file_(path_of_user(blueprint.ostree.gpg_public_key)) {
    if (file_.empty()) {
        return;
    }
    try {
        certificates_ = read_key_file(read_file(ostree_.gpg_public_key, largest_key_file),
                                      "gpg_public_key " + file_.string());
    } catch (const Error& unreadable) {
        throw error_at(ostree_.location, "{}", unreadable.message()).hinted(unreadable.hint());
    }
    const std::string number = key_number(ostree_.sign);
    const auto wanted = [&](const Certificate& one) { return has_key(one, number); };
    if (std::ranges::none_of(certificates_, wanted)) {
        throw refused(fmt::format("does not have the key {} (sign)", ostree_.sign));
    }
    std::vector<std::string> reasons;
    bool usable = false;
    for (const Certificate& certificate : certificates_) {
        for (const PublicKey& key : certificate.keys) {
            if (wanted(certificate)) {
                const std::string reason = unusable(key, fips_, now_);
                usable = usable || reason.empty();
                reasons.push_back(fmt::format("{} {}", key.id, reason));
            }
        }
    }
    if (!usable) {
        Error failure = refused("has no key that can verify a commit");
        for (const std::string& reason : reasons) {
            failure.traced(reason);
        }
        throw failure;
    }
}

Error DeviceKey::refused(std::string_view reason) const {
    Error failure =
        error_at(ostree_.location, "gpg_public_key {} {}: devices would refuse every upgrade",
                 file_.string(), reason);
    for (const Certificate& certificate : certificates_) {
        failure.traced("it has " + printable_line(certificate.text()));
    }
    return failure.hinted(fmt::format("export it again: gpg --armor --export {} > {}",
                                      shell_word(ostree_.sign),
                                      shell_word(file_.filename().string())));
}

std::string DeviceKey::fault_of(const Context& ctx, const TrialSignature& trial) const {
    const DetachedSignature signature =
        check_detached_signature(ctx, trial_text, trial.signature, certificates_);
    std::string fault = trial_fault(signature);
    if (signature.verdict == SignatureVerdict::good) {
        for (const Certificate& certificate : certificates_) {
            for (const PublicKey& key : certificate.keys) {
                fault = signature.key.ends_with(key.id) ? unverifiable_kind(key, fips_) : fault;
            }
        }
    }
    if (fault.empty()) {
        return {};
    }
    const bool subkey = signature.verdict == SignatureVerdict::other_key &&
                        !trial.fingerprint.ends_with(signature.key) &&
                        std::ranges::any_of(certificates_, [&](const Certificate& certificate) {
                            return has_key(certificate, trial.fingerprint);
                        });
    return subkey ? fmt::format("lacks the subkey {} of {}, with which GnuPG signs", signature.key,
                                trial.fingerprint)
                  : fmt::format("does not verify what {} signs: its key {} {}", ostree_.sign,
                                signature.key, fault);
}

void DeviceKey::require_plain(const TrialSignature& trial) const {
    const auto hint = [&](std::string_view option) {
        return fmt::format("remove {} from {}", option,
                           ostree_.gpg_homedir.empty()
                               ? "gpg.conf of the user's GPG home"
                               : (ostree_.gpg_homedir / "gpg.conf").string());
    };
    const std::vector<SignaturePacket> made = read_signatures(trial.signature);
    if (made.size() > 1) {
        throw error_at(ostree_.location,
                       "GnuPG makes {} signatures instead of one by {}: commits would be signed by "
                       "keys that the blueprint does not name",
                       made.size(), ostree_.sign)
            .hinted(hint("local-user"));
    }
    if (!made.empty() && made.front().lifetime != 0) {
        throw error_at(ostree_.location,
                       "signatures of {} expire after {}: devices would refuse the commit from "
                       "then on",
                       ostree_.sign, duration_text(made.front().lifetime))
            .hinted(hint("default-sig-expire"));
    }
}

void DeviceKey::require(const Context& ctx, const TrialSignature& trial) const {
    require_plain(trial);
    if (certificates_.empty()) {
        return;
    }
    if (const std::string fault = fault_of(ctx, trial); !fault.empty()) {
        throw refused(fault);
    }
}

std::vector<std::string> DeviceKey::warnings() const {
    std::int64_t last = 0;
    for (const Certificate& certificate : certificates_) {
        for (const PublicKey& key : certificate.keys) {
            if (!unusable(key, fips_, now_).empty()) {
                continue;
            }
            if (key.expires == 0) {
                return {};
            }
            last = std::max(last, key.expires);
        }
    }
    if (last == 0 || last > now_ + soon) {
        return {};
    }
    return {
        fmt::format("{}: gpg_public_key {} expires on {}: from then on devices refuse every "
                    "upgrade, unless they have got an image with an extended key before",
                    ostree_.location.text(), file_.string(), day_text(last))};
}

std::vector<std::string> DeviceKey::warnings(const TrialSignature& trial) const {
    const std::vector<SignaturePacket> made = read_signatures(trial.signature);
    if (made.empty() || !warnings().empty()) {
        return {};
    }
    for (const Certificate& certificate : certificates_) {
        const PublicKey* const key = certificate.find(made.front().issuer);
        if (key != nullptr && key->expires != 0 && key->expires <= now_ + soon) {
            return {fmt::format(
                "{}: gpg_public_key {}: the key {} of it, with which GnuPG signs, expires on {}: "
                "from then on devices refuse every upgrade that it signed, unless they have got an "
                "image with an extended key before",
                ostree_.location.text(), file_.string(), key->fingerprint, day_text(key->expires))};
        }
    }
    return {};
}

bool DeviceKey::accepts(const Context& ctx, std::string_view commit, std::string_view signature,
                        const TrialSignature& trial) const {
    const std::vector<SignaturePacket> made = read_signatures(signature);
    const std::vector<SignaturePacket> tried = read_signatures(trial.signature);
    if (made.size() != 1 || tried.empty() || made.front().issuer != tried.front().issuer) {
        return false;
    }
    if (certificates_.empty()) {
        return made.front().lifetime == 0 || made.front().made + made.front().lifetime > now_;
    }
    const DetachedSignature checked =
        check_detached_signature(ctx, commit, signature, certificates_);
    return checked.verdict == SignatureVerdict::good &&
           (checked.key_expired == 0 || checked.key_expired > now_);
}

std::string refusal_by_parent(const Context& ctx,
                              const std::map<std::string, std::string>& key_files,
                              const TrialSignature& trial) {
    std::vector<Certificate> certificates;
    for (const auto& [path, content] : key_files) {
        try {
            std::vector<Certificate> more = read_key_file(content, path);
            std::move(more.begin(), more.end(), std::back_inserter(certificates));
        } catch (const Error&) {
            continue;  // devices do not read it, either
        }
    }
    if (certificates.empty()) {
        return {};
    }
    const DetachedSignature signature =
        check_detached_signature(ctx, trial_text, trial.signature, certificates);
    const std::string fault = trial_fault(signature);
    return fault.empty() ? "" : fmt::format("the key {} {}", signature.key, fault);
}

std::string unverifiable_kind(const PublicKey& key, bool fips) {
    struct Curve {
        std::string_view identifier;
        std::string_view name;
        bool known;
        bool fips;
    };
    // Of libgcrypt in Enterprise Linux: 1.8.5 in EL 8 (its own ecc-curves.c) and 1.10.0 in EL 9
    // (--disable-brainpool); FIPS mode has the curves of NIST alone.
    constexpr std::array<Curve, 9> curves{{
        {"2A8648CE3D030107", "NIST P-256", true, true},
        {"2B81040022", "NIST P-384", true, true},
        {"2B81040023", "NIST P-521", true, true},
        {"2B06010401DA470F01", "Ed25519", true, false},
        {"2B8104000A", "secp256k1", true, false},
        {"2B6571", "Ed448", false, false},
        {"2B2403030208010107", "brainpoolP256r1", false, false},
        {"2B240303020801010B", "brainpoolP384r1", false, false},
        {"2B240303020801010D", "brainpoolP512r1", false, false},
    }};
    constexpr std::array<unsigned, 5> algorithms{1, 3, 17, 19, 22};  // RSA, DSA, ECDSA, EdDSA
    if (std::ranges::find(algorithms, key.algorithm) == algorithms.end()) {
        return fmt::format("has algorithm {}, which the devices' GnuPG does not know",
                           key.algorithm);
    }
    if (key.curve.empty()) {
        return {};
    }
    const auto curve = std::ranges::find(curves, key.curve, &Curve::identifier);
    if (curve == curves.end() || !curve->known) {
        return fmt::format("has the curve {}, which GnuPG of Enterprise Linux 8 does not know",
                           curve == curves.end() ? key.curve : std::string(curve->name));
    }
    return fips && !curve->fips
               ? fmt::format("has the curve {}, which GnuPG refuses in FIPS mode", curve->name)
               : std::string();
}

}  // namespace edgegpu
