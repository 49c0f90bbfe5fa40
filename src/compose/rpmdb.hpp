#pragma once

#include <filesystem>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// Writes an rpmdb (sqlite) with the full headers of `packages`, in this order, into the empty
/// directory `scratch`, and returns the path of `rpmdb.sqlite` there: byte for byte the same for
/// the same packages and ctx.source_date_epoch. The builder's rpm configuration is not read.
/// Not thread-safe: librpm keeps macros for the whole process.
[[nodiscard]] std::filesystem::path write_rpmdb(const Context& ctx,
                                                const std::vector<ImportedPackage>& packages,
                                                const std::filesystem::path& scratch);

/// Puts an rpmdb at /usr/share/rpm/rpmdb.sqlite, alone there, with links from
/// /usr/lib/sysimage/rpm and /var/lib/rpm, where clients and rpm look for it.
void install_rpmdb(const Context& ctx, Tree& tree, const std::filesystem::path& database);

/// What of the builder decides the bytes of that database: the builds of librpm and SQLite.
[[nodiscard]] std::string rpmdb_writer();

}  // namespace edgegpu
