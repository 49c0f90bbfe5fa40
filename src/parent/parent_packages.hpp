#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// The headers in the package database of a commit (/usr/share/rpm), in the order of installation,
/// read by the builder's rpmdb in a sandbox: the commit may be anybody's. `name` is for messages.
/// Throws Error if there is no database, or none that can be read.
[[nodiscard]] std::vector<std::string> read_headers(const Context& ctx, const CommitView& commit,
                                                    const std::string& name);

/// The packages of these headers, without keys of rpm (gpg-pubkey) and without the content of
/// files. Throws Error for a header that is damaged.
[[nodiscard]] std::vector<ImportedPackage> packages_of(const std::vector<std::string>& headers,
                                                       const std::string& name);

}  // namespace edgegpu
