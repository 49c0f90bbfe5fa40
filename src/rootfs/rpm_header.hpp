#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <rpm/header.h>
#include <rpm/rpmds.h>
#include <rpm/rpmfi.h>
#include <rpm/rpmfiles.h>
#include <rpm/rpmio.h>
#include <rpm/rpmts.h>

#include "support/handles.hpp"

namespace edgegpu {

// librpm's *Free functions return a null pointer; Handle wants to ignore that.
using RpmHeader = Handle<headerToken_s, headerFree>;
using RpmFiles = Handle<rpmfiles_s, rpmfilesFree>;
using RpmFileIterator = Handle<rpmfi_s, rpmfiFree>;
using RpmTransaction = Handle<rpmts_s, rpmtsFree>;
using RpmFd = Handle<_FD_s, Fclose>;
using RpmDependencies = Handle<rpmds_s, rpmdsFree>;

/// A transaction set that reads no keyring and verifies nothing: packages were verified when they
/// were fetched. One for each thread.
[[nodiscard]] RpmTransaction make_transaction();

/// Opens an RPM and reads its main header; afterwards `fd` stands at the payload. Throws Error
/// "package NAME: …" where the header is malformed.
[[nodiscard]] RpmHeader read_rpm_header(rpmts transaction, FD_t fd, const std::string& name);

/// A header from the blob that headerExport made. Throws Error "package NAME: …".
[[nodiscard]] RpmHeader load_header(const std::string& blob, const std::string& name);
/// The blob of a header, as the rpmdb holds it.
[[nodiscard]] std::string export_header(Header header);

/// A string tag, or empty.
[[nodiscard]] std::string header_string(Header header, rpmTagVal tag);
/// A number tag's first value, or `fallback`.
[[nodiscard]] std::uint64_t header_number(Header header, rpmTagVal tag, std::uint64_t fallback = 0);
/// All values of a string (array) tag.
[[nodiscard]] std::vector<std::string> header_strings(Header header, rpmTagVal tag);
/// All values of a number tag.
[[nodiscard]] std::vector<std::uint64_t> header_numbers(Header header, rpmTagVal tag);

}  // namespace edgegpu
