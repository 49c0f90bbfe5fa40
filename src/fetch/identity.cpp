#include "fetch/identity.hpp"

#include <rpm/header.h>
#include <rpm/rpmio.h>
#include <rpm/rpmkeyring.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmts.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/nevra.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using TransactionSet = Handle<rpmts_s, rpmtsFree>;
using Keyring = Handle<rpmKeyring_s, rpmKeyringFree>;
using RpmFile = Handle<_FD_s, Fclose>;
using RpmHeader = Handle<headerToken_s, headerFree>;

RpmHeader read_header(const std::filesystem::path& rpm) {
    const TransactionSet set(rpmtsCreate());
    // Without an explicit keyring, librpm would load keys from the build machine's rpmdb.
    const Keyring none(rpmKeyringNew());
    rpmtsSetKeyring(set.get(), none.get());
    rpmtsSetVSFlags(set.get(), static_cast<rpmVSFlags>(_RPMVSF_NODIGESTS | _RPMVSF_NOSIGNATURES));
    const RpmFile file(Fopen(rpm.c_str(), "r.ufdio"));
    Header raw = nullptr;
    if (!file || rpmReadPackageFile(set.get(), file.get(), rpm.c_str(), &raw) == RPMRC_FAIL) {
        return RpmHeader();
    }
    return RpmHeader(raw);
}

std::string header_text(Header header, rpmTagVal tag) {
    return text_of(headerGetString(header, tag));
}

}  // namespace

void require_identity(const PackageFile& file) {
    const ResolvedPackage& package = file.package;
    const RpmHeader header = read_header(file.content->path());
    if (!header) {
        throw error(ErrorKind::fetch, "package {}: the file is truncated or damaged",
                    package.nevra.text())
            .traced("file " + file.content->shown())
            .hinted(
                "this is the file that the repository has: report it to the maintainer of the "
                "repository");
    }
    const Nevra found{header_text(header.get(), RPMTAG_NAME),
                      static_cast<std::uint32_t>(headerGetNumber(header.get(), RPMTAG_EPOCH)),
                      header_text(header.get(), RPMTAG_VERSION),
                      header_text(header.get(), RPMTAG_RELEASE),
                      header_text(header.get(), RPMTAG_ARCH)};
    if (found != package.nevra) {
        throw error(ErrorKind::fetch, "package {} is {}: the metadata of repository '{}' are wrong",
                    package.nevra.text(), found.text(), package.repository)
            .traced("file " + file.content->shown())
            .hinted(
                "the repository or its mirror offers one package as another: have its metadata "
                "made again, or do not use it");
    }
}

}  // namespace edgegpu
