#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "cache/file_lock.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Verified metadata of one repository, in the cache. Paths are absolute, and empty if the
/// repository has no such file or it has not been loaded (load_filelists, load_comps,
/// load_updateinfo).
struct RepositoryMetadata {
    /// Points into the blueprint, which must outlive this.
    const Repository* repository = nullptr;
    ResolvedRepository resolved;
    /// `<cache>/repos/<id>-<digest of its URLs>/<SHA-256 of repomd.xml>` with `repodata/` and files
    /// derived from it, which need no other cache key.
    std::filesystem::path directory;
    /// Keeps other builds from removing `directory`.
    std::shared_ptr<const FileLock> in_use;
    /// The records of repomd.xml.
    MetadataRecords records;
    std::filesystem::path primary;
    std::filesystem::path filelists;
    std::filesystem::path comps;
    std::filesystem::path modules;
    std::filesystem::path updateinfo;

    /// Bytes that the file of this kind decompresses to, as repomd.xml says; 0: it does not.
    [[nodiscard]] std::uint64_t open_size(MetadataKind kind) const;
};

/// Downloads repomd.xml of every enabled repository, and primary and modules metadata if they have
/// changed. Signatures are verified if `repo_gpgcheck` is on, checksums always. Offline, the last
/// state in the cache is used, except for file:// repositories. Throws ErrorKind::fetch naming the
/// repository.
[[nodiscard]] std::vector<RepositoryMetadata> load_metadata(
    const Context& ctx, const std::vector<Repository>& repositories);

/// Downloads the file lists of a repository if they are not in the cache, and sets
/// `metadata.filelists`; if the repository has none, to an empty path, with a note on ctx.console.
/// Throws ErrorKind::fetch naming the repository.
void load_filelists(const Context& ctx, RepositoryMetadata& metadata);

/// The same for groups (comps.xml): sets `metadata.comps`, to an empty path if the repository has
/// none.
void load_comps(const Context& ctx, RepositoryMetadata& metadata);

/// The same for advisories (updateinfo.xml): sets `metadata.updateinfo`, to an empty path if the
/// repository has none. Offline, returns false if they are not in the cache.
[[nodiscard]] bool load_updateinfo(const Context& ctx, RepositoryMetadata& metadata);

}  // namespace edgegpu
