#pragma once

#include <filesystem>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// Writes an rpmdb (SQLite) with the headers of `packages`, in this order, into the empty directory
/// `scratch`, and returns the path of its `rpmdb.sqlite`: the same bytes for the same packages,
/// ctx.source_date_epoch, librpm and SQLite. The builder's rpm configuration is not used. Not
/// thread-safe: librpm's macros and the environment are global. Throws Error if librpm fails.
[[nodiscard]] std::filesystem::path write_rpmdb(const Context& ctx,
                                                const std::vector<ImportedPackage>& packages,
                                                const std::filesystem::path& scratch);

/// Replaces /usr/share/rpm with a directory that contains only `database` (as rpmdb.sqlite), with
/// links from /usr/lib/sysimage/rpm and /var/lib/rpm, where rpm and other clients expect it.
void install_rpmdb(const Context& ctx, Tree& tree, const std::filesystem::path& database);

}  // namespace edgegpu
