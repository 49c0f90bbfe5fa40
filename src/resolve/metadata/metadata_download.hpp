#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "support/context.hpp"
#include "support/entry_lock.hpp"
#include "support/file_lock.hpp"

namespace edgegpu {

/// Which files of a repomd.xml (its path, verified) a blueprint needs.
using RecordChoice = std::function<std::vector<MetadataRecord>(const std::filesystem::path&)>;

/// Where all states of a repository's metadata lie: `<cache>/repos/<id>-<digest of its URLs>`, so
/// that two blueprints that give one id to different repositories do not meet.
[[nodiscard]] std::filesystem::path repository_directory(const Context& ctx,
                                                         const Repository& repository);

/// The right to change what lies in that directory; waited for while another build has it.
[[nodiscard]] EntryLock lock_metadata(const Context& ctx, const Repository& repository);

/// Keeps other builds from removing a state, `<base>/<SHA-256>`, as long as the value lives. To be
/// called with `lock_metadata`'s lock.
[[nodiscard]] FileLock use_state(const Context& ctx, const std::filesystem::path& state);

/// Whether the repository is files of this machine alone, which no --offline forbids.
[[nodiscard]] bool is_local(const Repository& repository);

/// Brings the newest repomd.xml that the repository's mirrors have to `<base>/<its SHA-256>/
/// repodata/`, and the files beside it that `choose` asks for and that are not there yet. A mirror
/// whose repomd.xml is damaged, has a signature that does not fit, or is not what the metalink
/// promises, is passed over. If the repository changes meanwhile, it begins again once. Offline,
/// the state of the last run is taken as it is, and `choose` is not asked. Earlier states that
/// nobody uses are removed. To be called with `lock_metadata`'s lock. Returns the SHA-256. Throws
/// ErrorKind::fetch naming repository and URL.
[[nodiscard]] std::string refresh_metadata(const Context& ctx,
                                           const std::vector<Repository>& repositories,
                                           const Repository& repository,
                                           const std::filesystem::path& base,
                                           const RecordChoice& choose);

/// Brings those of `records` that are not there yet to metadata_path(directory, record), checked.
/// Throws ErrorKind::fetch naming repository, file and URL.
void download_records(const Context& ctx, const Repository& repository,
                      const std::filesystem::path& directory,
                      const std::vector<MetadataRecord>& records);

/// SHA-256 of the repomd.xml that the repository has now, unverified; empty if it cannot be had.
[[nodiscard]] std::string current_repomd(const Context& ctx, const Repository& repository,
                                         const std::vector<std::string>& mirrors);

}  // namespace edgegpu
