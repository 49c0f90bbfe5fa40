#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cache/entry_lock.hpp"
#include "cache/file_lock.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/metadata_records.hpp"

namespace edgegpu {

/// Selects the records to download from a repomd.xml (its path; verified).
using RecordChoice = std::function<std::vector<MetadataRecord>(const std::filesystem::path&)>;

/// Directory with all states of a repository's metadata, `<cache>/repos/<id>-<digest of its URLs>`:
/// blueprints may use the same id for different repositories.
[[nodiscard]] std::filesystem::path repository_directory(const Context& ctx,
                                                         const Repository& repository);

/// Takes the lock for changing that directory; waits while another build holds it.
[[nodiscard]] EntryLock lock_metadata(const Context& ctx, const Repository& repository);

/// Keeps other builds from removing a state, `<base>/<SHA-256>`, for the lifetime of the result.
/// Call it while holding `lock_metadata`.
[[nodiscard]] FileLock use_state(const Context& ctx, const std::filesystem::path& state);

/// Whether all sources of the repository are local files, which --offline does not forbid.
[[nodiscard]] bool is_local(const Repository& repository);

/// Downloads the repository's current repomd.xml to `<base>/<its SHA-256>/repodata/`, and the files
/// that `choose` selects unless they exist. Mirrors whose repomd.xml is corrupt, has an invalid
/// signature, or is not listed in the metalink are skipped. If the repository changes meanwhile,
/// retries once. Offline, returns the state of the last run without calling `choose`. Removes
/// earlier states that are not in use. Call it while holding `lock_metadata`. Returns the SHA-256.
/// Throws ErrorKind::fetch naming repository and URL.
[[nodiscard]] std::string refresh_metadata(const Context& ctx,
                                           const std::vector<Repository>& repositories,
                                           const Repository& repository,
                                           const std::filesystem::path& base,
                                           const RecordChoice& choose);

/// Downloads and verifies those of `records` that do not exist yet at metadata_path(directory,
/// record). Throws ErrorKind::fetch naming repository, file and URL.
void download_records(const Context& ctx, const Repository& repository,
                      const std::filesystem::path& directory,
                      const std::vector<MetadataRecord>& records);

/// SHA-256 of the repository's current repomd.xml, unverified; empty if it cannot be downloaded.
[[nodiscard]] std::string current_repomd(const Context& ctx, const Repository& repository,
                                         const std::vector<std::string>& mirrors);

}  // namespace edgegpu
