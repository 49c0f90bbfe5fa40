#pragma once

#include <set>

#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/solv.hpp"

namespace edgegpu {

/// Fills an empty libsolv repository with the packages of primary metadata: from the .solv cache in
/// `metadata.directory`, or else from XML, and writes that cache. Throws ErrorKind::fetch naming
/// the repository if its metadata cannot be parsed.
void load_primary(const RepositoryMetadata& metadata, Repo* repo);

/// Adds the file lists in `metadata.filelists` in the same way.
void load_file_lists(const RepositoryMetadata& metadata, Repo* repo);

/// Fills an empty libsolv repository with the advisories in `metadata.updateinfo` in the same way.
void load_advisories(const RepositoryMetadata& metadata, Repo* repo);

/// The paths whose providers the repository's packages name in their Provides since an earlier
/// run, be it in this pool or read from the cache.
[[nodiscard]] std::set<Id> provided_paths(Repo* repo);

/// Writes to the cache that packages name in their Provides whichever of `paths` they have, added
/// to earlier ones. That spares later runs the search through all files, and the file lists.
void save_provided_paths(const RepositoryMetadata& metadata, Repo* repo, const std::set<Id>& paths);

}  // namespace edgegpu
