#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"
#include "support/file_lock.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// One repository's verified metadata, in the cache. Paths are absolute, and empty where the
/// repository has no such file or nobody has asked for it yet (load_filelists, load_comps,
/// load_updateinfo).
struct RepositoryMetadata {
    /// Points into the blueprint, which must outlive this.
    const Repository* repository = nullptr;
    ResolvedRepository resolved;
    /// `<cache>/repos/<id>-<digest of its URLs>/<SHA-256 of repomd.xml>`: holds `repodata/` and
    /// what is derived from it. Its content never changes meaning, so caches need no other key.
    std::filesystem::path directory;
    /// Keeps `directory` there, whatever other builds do.
    std::shared_ptr<const FileLock> in_use;
    /// What repomd.xml lists.
    MetadataRecords records;
    std::filesystem::path primary;
    std::filesystem::path filelists;
    std::filesystem::path comps;
    std::filesystem::path modules;
    std::filesystem::path updateinfo;
};

/// Brings every enabled repository's repomd.xml up to date and downloads the rest where it
/// changed; signatures are checked where `repo_gpgcheck` is on, checksums always. Offline, the
/// last state in the cache is used; file:// repositories are read in any case. Primary metadata and
/// modules alone are downloaded here: not everybody needs the rest. Throws ErrorKind::fetch naming
/// the repository.
[[nodiscard]] std::vector<RepositoryMetadata> load_metadata(
    const Context& ctx, const std::vector<Repository>& repositories);

/// Downloads the file lists of a repository if they are not in the cache, and sets
/// `metadata.filelists`, to an empty path (said on ctx.console) where the repository has none.
/// Throws ErrorKind::fetch naming the repository.
void load_filelists(const Context& ctx, RepositoryMetadata& metadata);

/// The same for the groups (comps.xml): sets `metadata.comps`, to an empty path where the
/// repository has none.
void load_comps(const Context& ctx, RepositoryMetadata& metadata);

/// The same for the advisories (updateinfo.xml): sets `metadata.updateinfo`, to an empty path where
/// the repository has none. Offline, false is returned if they are not in the cache.
[[nodiscard]] bool load_updateinfo(const Context& ctx, RepositoryMetadata& metadata);

using MetadataStream = Handle<FILE, std::fclose>;

/// A metadata file to be read uncompressed: gzip, xz, bzip2, zstd or plain, by its content. Throws
/// ErrorKind::fetch naming repository and file, for zchunk in words of its own.
[[nodiscard]] MetadataStream open_metadata_file(const std::string& repository,
                                                const std::filesystem::path& path);

/// The whole of such a file, at most 256 MiB uncompressed. Throws as open_metadata_file does.
[[nodiscard]] std::string read_metadata_file(const std::string& repository,
                                             const std::filesystem::path& path);

}  // namespace edgegpu
