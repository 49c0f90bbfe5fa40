#include "openpgp/package_signature.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <rpm/rpmcli.h>
#include <rpm/rpmkeyring.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmlog.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmtd.h>
#include <rpm/rpmts.h>

#include "openpgp/packets.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using TransactionSet = Handle<rpmts_s, rpmtsFree>;
using Keyring = Handle<rpmKeyring_s, rpmKeyringFree>;
using Pubkey = Handle<rpmPubkey_s, rpmPubkeyFree>;
using RpmFile = Handle<std::remove_pointer_t<FD_t>, Fclose>;

/// Discards librpm's log of verified files; the errors thrown here have more information.
int discard_log(rpmlogRec, rpmlogCallbackData) noexcept {
    return 0;
}

/// Adds the subkeys of a key: librpm looks up the key of a signature by its id.
void add_subkeys(rpmKeyring keyring, rpmPubkey key) {
    int count = 0;
    const Handle<rpmPubkey, std::free> subkeys(rpmGetSubkeys(key, &count));
    for (int i = 0; i < count; ++i) {
        const Pubkey subkey(subkeys.get()[i]);
        rpmKeyringAddKey(keyring, subkey.get());
    }
}

/// Adds a certificate; false if librpm cannot use its primary key (unknown algorithm, no user id).
bool add_key(rpmKeyring keyring, const Certificate& certificate) {
    const auto* packets = reinterpret_cast<const std::uint8_t*>(certificate.signing_packets.data());
    const Pubkey key(rpmPubkeyNew(packets, certificate.signing_packets.size()));
    if (!key) {
        return false;
    }
    rpmKeyringAddKey(keyring, key.get());
    add_subkeys(keyring, key.get());
    return true;
}

/// Verifies an RPM. `level` is what it must have (RPMSIG_…), `skipped` what is not checked
/// (RPMVSF_…).
bool check(rpmts set, const std::filesystem::path& rpm, int level, unsigned skipped) {
    // By default, Debian's librpm verifies digests only.
    rpmtsSetVfyFlags(set, static_cast<rpmVSFlags>(skipped));
    rpmtsSetVfyLevel(set, level);
    std::string path = rpm.string();
    std::array<char*, 2> arguments = {path.data(), nullptr};
    return rpmcliVerifySignatures(set, arguments.data()) == 0;
}

Error damaged_package(const std::string& shown, const std::string& name) {
    return error(ErrorKind::fetch, "package {}: the file is truncated or damaged", name)
        .traced("file " + shown)
        .hinted(
            "this is the file that the repository has: report it to the maintainer of the "
            "repository");
}

/// The signatures of a package: of the header, and of header and payload (in older packages).
std::vector<SignaturePacket> signatures_of(Header header) {
    std::vector<SignaturePacket> signatures;
    for (const rpmTag tag : {RPMTAG_RSAHEADER, RPMTAG_DSAHEADER, static_cast<rpmTag>(RPMTAG_SIGPGP),
                             static_cast<rpmTag>(RPMTAG_SIGGPG)}) {
        const Handle<rpmtd_s, rpmtdFree> data(rpmtdNew());
        if (headerGet(header, tag, data.get(), HEADERGET_DEFAULT) != 1) {
            continue;
        }
        const std::string_view bytes(static_cast<const char*>(data->data), data->count);
        const auto packets = split_packets(bytes);
        for (const Packet& packet : packets.value_or(std::vector<Packet>())) {
            if (const auto signature = read_signature_packet(packet.body)) {
                signatures.push_back(*signature);
            }
        }
        rpmtdFreeData(data.get());
    }
    return signatures;
}

/// Why a signature is not acceptable, whether or not it is valid; empty if it is. `known` is set to
/// whether its key is in one of the certificates.
std::string objection(const SignaturePacket& signature,
                      const std::vector<Certificate>& certificates, bool& known) {
    known = false;
    bool counts = false;
    std::string why = "its key is not one of the repository's";
    for (const Certificate& certificate : certificates) {
        const PublicKey* key = certificate.find(signature.issuer);
        if (key == nullptr) {
            continue;
        }
        known = true;
        if (key->revoked) {
            // Even if an older copy of the certificate does not have the revocation.
            return "its key was revoked";
        }
        if (!key->can_sign) {
            why = "its key is not for signing";
        } else if (key->expires != 0 && signature.made >= key->expires) {
            why = "it was made after its key had expired";
        } else {
            counts = true;
        }
    }
    if (known && is_weak_digest(signature.digest_algorithm)) {
        return fmt::format("it was made over {}, which can be forged",
                           digest_name(signature.digest_algorithm));
    }
    return counts ? "" : why;
}

/// "SHA-256, key 0123456789ABCDEF".
std::string describe(const SignaturePacket& signature) {
    return fmt::format("{}, key {}", digest_name(signature.digest_algorithm), signature.issuer);
}

Error refused(const std::string& name, const SignaturePacket& signature, const std::string& why) {
    return error(ErrorKind::fetch, "the signature of package {} is refused: {}", name, why)
        .traced("its signature: " + describe(signature))
        .hinted("the maintainer of the repository has to sign the package again");
}

}  // namespace

struct PackageKeys::Impl {
    Keyring keyring{rpmKeyringNew()};
    std::vector<Certificate> certificates;

    /// The key of the acceptable signature; empty if no signature has a known key. Throws for the
    /// first signature if none is acceptable.
    [[nodiscard]] std::string require_acceptable(const std::vector<SignaturePacket>& signatures,
                                                 const std::string& name) const {
        bool known = false;
        for (const SignaturePacket& signature : signatures) {
            if (objection(signature, certificates, known).empty()) {
                return signature.issuer;
            }
        }
        for (const SignaturePacket& signature : signatures) {
            const std::string why = objection(signature, certificates, known);
            if (known) {
                throw refused(name, signature, why);
            }
        }
        return "";
    }

    [[nodiscard]] bool knows_all(const std::vector<SignaturePacket>& signatures) const {
        bool known = true;
        for (std::size_t i = 0; known && i < signatures.size(); ++i) {
            static_cast<void>(objection(signatures[i], certificates, known));
        }
        return known;
    }
};

PackageKeys::PackageKeys(const std::vector<std::string>& files,
                         const std::vector<std::string>& origins)
    : impl_(std::make_unique<Impl>()), origins_(origins) {
    rpmlogSetCallback(discard_log, nullptr);
    Sha256 digest;
    // To be changed whenever rules become stricter, so that packages are verified again.
    digest.update_field("rules 3");
    for (std::size_t i = 0; i < files.size(); ++i) {
        bool usable = false;
        for (Certificate& certificate : read_key_file(files[i], origins[i])) {
            usable = add_key(impl_->keyring.get(), certificate) || usable;
            impl_->certificates.push_back(std::move(certificate));
        }
        if (!usable) {
            throw error(ErrorKind::fetch, "{}: librpm cannot use this public key", origins[i])
                .hinted("packages are signed with RSA, DSA or EdDSA (Ed25519) keys");
        }
        digest.update_field(files[i]);
    }
    digest_ = digest.hex();
}

RpmHeader read_package_header(const std::filesystem::path& rpm, const std::string& shown,
                              const std::string& name) {
    const TransactionSet set(rpmtsCreate());
    // Without an explicit keyring, librpm would load keys from the build machine's rpmdb.
    const Keyring none(rpmKeyringNew());
    rpmtsSetKeyring(set.get(), none.get());
    rpmtsSetVSFlags(set.get(), static_cast<rpmVSFlags>(_RPMVSF_NODIGESTS | _RPMVSF_NOSIGNATURES));
    const RpmFile file(Fopen(rpm.c_str(), "r.ufdio"));
    Header raw = nullptr;
    if (!file || rpmReadPackageFile(set.get(), file.get(), rpm.c_str(), &raw) == RPMRC_FAIL) {
        throw damaged_package(shown, name);
    }
    return RpmHeader(raw);
}

PackageKeys::PackageKeys(PackageKeys&&) noexcept = default;
PackageKeys& PackageKeys::operator=(PackageKeys&&) noexcept = default;
PackageKeys::~PackageKeys() = default;

std::string PackageKeys::verify(const std::filesystem::path& rpm, const std::string& shown,
                                const std::string& name) const {
    const TransactionSet set(rpmtsCreate());
    rpmtsSetKeyring(set.get(), impl_->keyring.get());
    const bool fits = check(set.get(), rpm, RPMSIG_SIGNATURE_TYPE | RPMSIG_DIGEST_TYPE, 0);
    const RpmHeader header = read_package_header(rpm, shown, name);
    const std::string file = "file " + shown;
    if (!fits && !check(set.get(), rpm, RPMSIG_DIGEST_TYPE, _RPMVSF_NOSIGNATURES)) {
        throw damaged_package(shown, name);
    }
    const std::vector<SignaturePacket> signatures = signatures_of(header.get());
    if (signatures.empty()) {
        throw error(ErrorKind::fetch, "package {} is not signed", name)
            .traced(file)
            .hinted(
                "have it signed (rpmsign --addsign), or take it from a repository that signs it");
    }
    std::string key = impl_->require_acceptable(signatures, name);
    if (fits) {
        return key;
    }
    if (impl_->knows_all(signatures)) {
        throw error(ErrorKind::fetch, "the signature of package {} does not match it", name)
            .traced("its signature: " + describe(signatures.front()))
            .traced(file)
            .hinted(
                "the package was tampered with or signed incorrectly: report this to the "
                "maintainer of the repository");
    }
    Error failure =
        error(ErrorKind::fetch, "package {} was not signed with a key of its repository", name);
    for (const SignaturePacket& signature : signatures) {
        failure.traced("its signature: " + describe(signature));
    }
    for (const std::string& origin : origins_) {
        failure.traced("not by " + origin);
    }
    throw failure.hinted("check gpgkey of the repository");
}

}  // namespace edgegpu
