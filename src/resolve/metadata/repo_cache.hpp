#pragma once

#include <set>

#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/solv.hpp"

namespace edgegpu {

/// Fills an empty libsolv repository with the packages of primary metadata, from the .solv cache in
/// `metadata.directory` or from XML, of which it then writes the cache. Throws ErrorKind::fetch
/// naming the repository if its metadata cannot be parsed.
void load_primary(const RepositoryMetadata& metadata, Repo* repo);

/// Adds the file lists of `metadata.filelists` in the same way.
void load_file_lists(const RepositoryMetadata& metadata, Repo* repo);

/// Fills an empty libsolv repository with the advisories of `metadata.updateinfo` in the same way.
void load_advisories(const RepositoryMetadata& metadata, Repo* repo);

/// The paths that an earlier run has added to the Provides of the packages that contain them, in
/// this pool or in the cache.
[[nodiscard]] std::set<Id> provided_paths(Repo* repo);

/// Records in the cache that the Provides of packages include those of `paths` that they contain,
/// in addition to earlier ones. Later runs then need neither a search through all files nor the
/// file lists.
void save_provided_paths(const RepositoryMetadata& metadata, Repo* repo, const std::set<Id>& paths);

}  // namespace edgegpu
