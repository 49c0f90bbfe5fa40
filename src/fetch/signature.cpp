#include "fetch/signature.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

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

/// `level` names what the RPM must have (RPMSIG_…), `skipped` what is not looked at.
bool check(rpmts set, const std::filesystem::path& rpm, int level, unsigned skipped) {
    // Debian's librpm verifies digests only unless told.
    rpmtsSetVfyFlags(set, static_cast<rpmVSFlags>(skipped));
    rpmtsSetVfyLevel(set, level);
    std::string path = rpm.string();
    std::array<char*, 2> arguments = {path.data(), nullptr};
    return rpmcliVerifySignatures(set, arguments.data()) == 0;
}

RpmHeader read_header(rpmts set, const std::filesystem::path& rpm) {
    const RpmFile file(Fopen(rpm.c_str(), "r.ufdio"));
    Header raw = nullptr;
    rpmtsSetVSFlags(set, static_cast<rpmVSFlags>(_RPMVSF_NODIGESTS | _RPMVSF_NOSIGNATURES));
    if (!file || rpmReadPackageFile(set, file.get(), rpm.c_str(), &raw) == RPMRC_FAIL) {
        return RpmHeader();
    }
    return RpmHeader(raw);
}

/// "RSA/SHA256, …, Key ID 0123456789abcdef" as rpm shows it, or empty for an unsigned package.
std::string describe_signature(Header header) {
    for (const char* format :
         {"%{RSAHEADER:pgpsig}", "%{DSAHEADER:pgpsig}", "%{SIGPGP:pgpsig}", "%{SIGGPG:pgpsig}"}) {
        const char* problem = nullptr;
        const Handle<char, std::free> text(headerFormat(header, format, &problem));
        if (text && std::string_view(text.get()) != "(none)") {
            return text.get();
        }
    }
    return "";
}

}  // namespace

struct PackageKeys::Impl {
    Keyring keyring{rpmKeyringNew()};
};

PackageKeys::PackageKeys(const std::vector<std::string>& armored,
                         const std::vector<std::string>& origins)
    : impl_(std::make_unique<Impl>()), origins_(origins) {
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
    if (check(set.get(), rpm, RPMSIG_SIGNATURE_TYPE | RPMSIG_DIGEST_TYPE, 0)) {
        return;
    }
    const RpmHeader header = read_header(set.get(), rpm);
    if (!header || !check(set.get(), rpm, RPMSIG_DIGEST_TYPE, _RPMVSF_NOSIGNATURES)) {
        throw error(ErrorKind::fetch, "package {}: the file is truncated or damaged", name)
            .traced("file " + rpm.string())
            .hinted("its repository offers it like this: tell who runs the repository");
    }
    const std::string signature = describe_signature(header.get());
    if (signature.empty()) {
        throw error(ErrorKind::fetch, "package {} is not signed", name)
            .traced("file " + rpm.string())
            .hinted("sign it, or set gpgcheck = false for its repository");
    }
    Error failure =
        error(ErrorKind::fetch, "package {} was not signed with a key of its repository", name);
    failure.traced("its signature: " + signature);
    for (const std::string& origin : origins_) {
        failure.traced("not by " + origin);
    }
    throw failure.hinted("check gpgkey of the repository");
}

}  // namespace edgegpu
