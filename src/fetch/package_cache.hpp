#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "fetch/fetch.hpp"
#include "support/checksum.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Names a package in EntryLock.
[[nodiscard]] std::string package_lock_key(const Checksum& checksum);

/// The packages in the cache, by SHA-256. Those of which a repository promises another checksum are
/// found through `packages/<algorithm>-<digits>`, which holds the SHA-256 of what was verified
/// once. That is a hint, never believed: the promised checksum is computed whenever a package is
/// used.
class PackageCache {
public:
    explicit PackageCache(const Context& ctx);

    /// Where the package is, or where it is to be downloaded to.
    [[nodiscard]] std::filesystem::path path_of(const Checksum& checksum) const;
    /// Opens a package where it lies in the cache, copied there from `local` first if it is absent
    /// or damaged, and gives it its address there. Throws where it has not the promised checksum.
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
