#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "support/files/checksum.hpp"

namespace edgegpu {

/// Key of a package's EntryLock: "sha512-0123…".
[[nodiscard]] std::string package_lock_key(const Checksum& checksum);

/// The packages in the cache, by SHA-256. If a repository uses another checksum algorithm, the
/// index file `packages/<algorithm>-<digits>` contains the SHA-256. The index is not trusted: the
/// repository's checksum is computed whenever a package is used.
class PackageCache {
public:
    explicit PackageCache(const Context& ctx);

    /// Path of the package, or of its download if it is not in the cache.
    [[nodiscard]] std::filesystem::path path_of(const Checksum& checksum) const;
    /// Verifies the checksum of a cached package, renames it to `packages/<sha256>.rpm`, and sets
    /// path, sha256 and content of `file`. If the cached file is missing or damaged, it is first
    /// copied from `local`. Throws ErrorKind::fetch on a wrong checksum.
    void open(PackageFile& file, const std::optional<std::filesystem::path>& local) const;

private:
    void open_found(PackageFile& file, const std::optional<std::filesystem::path>& local) const;
    [[nodiscard]] std::filesystem::path by_sha256(const std::string& sha256) const;
    [[nodiscard]] std::filesystem::path index_of(const Checksum& checksum) const;
    void open_copy(PackageFile& file, const std::filesystem::path& local) const;
    void keep(PackageFile& file, std::shared_ptr<PackageContent> content) const;

    const Context& ctx_;
    std::filesystem::path directory_;
};

}  // namespace edgegpu
