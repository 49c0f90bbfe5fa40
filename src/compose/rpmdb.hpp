#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// A package database: the files of a directory of the builder.
struct PackageDatabase {
    std::filesystem::path directory;
    /// names of its files, sorted
    std::vector<std::string> files;
};

/// Writes a database (SQLite, one file) with the headers of `packages`, in this order, into the
/// empty directory `scratch`, and the same headers to `scratch`/headers, in the format of
/// `rpmdb --importdb`: the same bytes for the same packages, ctx.source_date_epoch, librpm and
/// SQLite. What the parent's database has (`installed`, headers) comes first, as it is. librpm runs
/// in a process of its own (rpmdb_process.hpp). The builder's rpm configuration is not used. Throws
/// Error if librpm fails.
[[nodiscard]] PackageDatabase write_rpmdb(const Context& ctx,
                                          const std::vector<ImportedPackage>& packages,
                                          const std::filesystem::path& scratch,
                                          const std::vector<std::string>& installed = {});

/// Replaces /usr/share/rpm with a directory that contains only the files of `database`, with links
/// from /usr/lib/sysimage/rpm and /var/lib/rpm, where rpm and other clients expect it.
void install_rpmdb(const Context& ctx, Tree& tree, const PackageDatabase& database);

}  // namespace edgegpu
