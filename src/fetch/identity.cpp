#include "fetch/identity.hpp"

#include "openpgp/package_signature.hpp"
#include "support/error.hpp"
#include "support/text/nevra.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

std::string header_text(Header header, rpmTagVal tag) {
    return text_of(headerGetString(header, tag));
}

}  // namespace

void require_identity(const PackageFile& file) {
    const ResolvedPackage& package = file.package;
    const RpmHeader header =
        read_package_header(file.content->path(), file.content->shown(), package.nevra.text());
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
