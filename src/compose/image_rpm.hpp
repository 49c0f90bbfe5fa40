#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compose/rpmdb.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// What the image's own rpm says of its package database.
struct ImageRpm {
    /// %_db_backend: "sqlite", "bdb", "ndb"; "bdb" for versions that have no such macro
    std::string backend;
    /// %_dbpath
    std::string place;
};

/// Asks the image's rpm. Nothing if the image has none, or if it cannot run and `required` is
/// false; throws Error if it cannot run and is.
[[nodiscard]] std::optional<ImageRpm> ask_image_rpm(const Context& ctx, const Tree& tree,
                                                    bool required);

/// The database `written` (write_rpmdb) in the format of that rpm: the same one for SQLite, which
/// is the same for all versions; else what the image's own `rpmdb --importdb` makes of the headers,
/// in `scratch`, without what differs each time (stable_database.hpp). Throws Error if the image
/// has no rpmdb, or if it fails.
[[nodiscard]] PackageDatabase convert_rpmdb(const Context& ctx, const Tree& tree,
                                            const ImageRpm& rpm, const PackageDatabase& written,
                                            const std::filesystem::path& scratch);

/// Makes that rpm look for the database in /usr/share/rpm, if it does not, as rpm-ostree does: by a
/// file in /usr/lib/rpm/macros.d.
void point_rpm_to_database(const Context& ctx, Tree& tree, const ImageRpm& rpm);

/// Throws Error unless the image's rpm lists exactly `packages` from the database in the tree, with
/// the root read-only, as /usr is on devices.
void check_rpmdb(const Context& ctx, const Tree& tree,
                 const std::vector<ImportedPackage>& packages);

}  // namespace edgegpu
