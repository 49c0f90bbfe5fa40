#include "fetch/signature.hpp"

#include <array>
#include <cstdint>

#include <rpm/rpmcli.h>
#include <rpm/rpmkeyring.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmlog.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmts.h>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using TransactionSet = Handle<rpmts_s, rpmtsFree>;
using Keyring = Handle<rpmKeyring_s, rpmKeyringFree>;
using Pubkey = Handle<rpmPubkey_s, rpmPubkeyFree>;
using RpmFile = Handle<std::remove_pointer_t<FD_t>, Fclose>;
using RpmHeader = Handle<headerToken_s, headerFree>;

/// librpm reports each verified file through its log; the errors thrown here say more.
int discard_log(rpmlogRec, rpmlogCallbackData) noexcept {
    return 0;
}

void add_key(rpmKeyring keyring, const std::string& armored, const std::string& origin) {
    std::uint8_t* raw = nullptr;
    std::size_t size = 0;
    const pgpArmor kind = pgpParsePkts(armored.c_str(), &raw, &size);
    const Handle<std::uint8_t, std::free> packets(raw);
    if (kind != PGPARMOR_PUBKEY) {
        throw error(ErrorKind::fetch, "{}: not an OpenPGP public key in ASCII armour", origin);
    }
    // A file may hold several certificates one after another.
    std::size_t offset = 0;
    while (offset < size) {
        std::size_t length = 0;
        if (pgpPubKeyCertLen(raw + offset, size - offset, &length) != 0 || length == 0) {
            throw error(ErrorKind::fetch, "{}: a damaged OpenPGP public key", origin);
        }
        const Pubkey key(rpmPubkeyNew(raw + offset, length));
        if (!key) {
            throw error(ErrorKind::fetch, "{}: librpm cannot use this public key", origin);
        }
        rpmKeyringAddKey(keyring, key.get());
        offset += length;
    }
}

bool has_signature(rpmts set, const std::filesystem::path& rpm) {
    const RpmFile file(Fopen(rpm.c_str(), "r.ufdio"));
    Header raw = nullptr;
    rpmtsSetVSFlags(set, static_cast<rpmVSFlags>(_RPMVSF_NODIGESTS | _RPMVSF_NOSIGNATURES));
    if (file && rpmReadPackageFile(set, file.get(), rpm.c_str(), &raw) == RPMRC_FAIL) {
        return true;  // unreadable: "damaged", not "unsigned"
    }
    const RpmHeader header(raw);
    static constexpr std::array<rpmTagVal, 4> tags = {RPMTAG_RSAHEADER, RPMTAG_DSAHEADER,
                                                      RPMTAG_SIGPGP, RPMTAG_SIGGPG};
    for (const rpmTagVal tag : tags) {
        if (header && headerIsEntry(header.get(), tag) != 0) {
            return true;
        }
    }
    return !header;
}

}  // namespace

struct PackageKeys::Impl {
    Keyring keyring{rpmKeyringNew()};
};

PackageKeys::PackageKeys(const std::vector<std::string>& armored,
                         const std::vector<std::string>& origins)
    : impl_(std::make_unique<Impl>()) {
    rpmlogSetCallback(discard_log, nullptr);
    Sha256 digest;
    for (std::size_t i = 0; i < armored.size(); ++i) {
        add_key(impl_->keyring.get(), armored[i], origins[i]);
        digest.update_field(armored[i]);
    }
    digest_ = digest.hex();
}

PackageKeys::PackageKeys(PackageKeys&&) noexcept = default;
PackageKeys& PackageKeys::operator=(PackageKeys&&) noexcept = default;
PackageKeys::~PackageKeys() = default;

void PackageKeys::verify(const std::filesystem::path& rpm, const std::string& name) const {
    const TransactionSet set(rpmtsCreate());
    rpmtsSetKeyring(set.get(), impl_->keyring.get());
    // Debian's librpm verifies digests only unless told: a signature is required here.
    rpmtsSetVfyFlags(set.get(), static_cast<rpmVSFlags>(0));
    rpmtsSetVfyLevel(set.get(), RPMSIG_SIGNATURE_TYPE | RPMSIG_DIGEST_TYPE);
    std::string path = rpm.string();
    std::array<char*, 2> arguments = {path.data(), nullptr};
    if (rpmcliVerifySignatures(set.get(), arguments.data()) == 0) {
        return;
    }
    if (!has_signature(set.get(), rpm)) {
        throw error(ErrorKind::fetch, "package {} is not signed", name)
            .hinted("sign it, or set gpgcheck = false for its repository");
    }
    throw error(ErrorKind::fetch,
                "package {}: its signature was not made by a key of its repository, or the "
                "file is damaged",
                name)
        .hinted("check gpgkey of the repository");
}

}  // namespace edgegpu
