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

using RpmHeader = Handle<headerToken_s, headerFree>;
using RpmFiles = Handle<rpmfiles_s, rpmfilesFree>;
using RpmFileIterator = Handle<rpmfi_s, rpmfiFree>;
using RpmTransaction = Handle<rpmts_s, rpmtsFree>;
using RpmFd = Handle<_FD_s, Fclose>;
using RpmDependencies = Handle<rpmds_s, rpmdsFree>;

/// A transaction set that reads no keyring and verifies nothing: packages were verified when they
/// were fetched. Not to be shared by threads.
[[nodiscard]] RpmTransaction make_transaction();

/// Reads the main header of the RPM that `fd` is open on; `fd` is at the payload afterwards. Throws
/// Error "package NAME: …" if the header is malformed.
[[nodiscard]] RpmHeader read_rpm_header(rpmts transaction, FD_t fd, const std::string& name);

/// A header from the blob of `export_header`. Throws Error "package NAME: …" if it is damaged.
[[nodiscard]] RpmHeader load_header(const std::string& blob, const std::string& name);
/// The blob of a header (headerExport), as in the rpmdb.
[[nodiscard]] std::string export_header(Header header);

/// The value of a string tag; empty if the header does not have it.
[[nodiscard]] std::string header_string(Header header, rpmTagVal tag);
/// The first value of a number tag, or `fallback`.
[[nodiscard]] std::uint64_t header_number(Header header, rpmTagVal tag, std::uint64_t fallback = 0);
/// All values of a string or string array tag.
[[nodiscard]] std::vector<std::string> header_strings(Header header, rpmTagVal tag);
/// All values of a number tag.
[[nodiscard]] std::vector<std::uint64_t> header_numbers(Header header, rpmTagVal tag);

}  // namespace edgegpu
