#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "rootfs/rpm_header.hpp"
#include "support/context.hpp"
#include "support/nevra.hpp"

namespace edgegpu {

/// One path of a package, as its header describes it.
struct ImportedFile {
    /// absolute and normal, not yet translated through links of the image
    std::string path;
    /// type, mode, size, digest, content, target and capabilities are set; owner numbers are not
    Entry entry;
    std::string user;
    std::string group;
    /// RPMFILE_* bits
    std::uint32_t flags = 0;

    [[nodiscard]] bool is_ghost() const { return (flags & RPMFILE_GHOST) != 0; }
};

/// A package as the cache holds it: `imports/<sha256 of the RPM>/` with `manifest` (this
/// value), `header` (the blob of the RPM's header) and `files/<n>` (owner root, mode and
/// capabilities of the header, so that hard links to them have these too).
struct ImportedPackage {
    Nevra nevra;
    /// SHA-256 of the RPM
    std::string sha256;
    /// the RPM itself
    std::shared_ptr<const PackageContent> rpm;
    /// in the header's order
    std::vector<ImportedFile> files;
    RpmHeader header;

    ImportedPackage() = default;
};

/// Unpacks one package into the cache, or reads what is there. The content of every file is
/// checked against the header's digest. What is unpacked is what was verified, through the
/// descriptor that the package was verified through. Throws Error "package NEVRA: …" for paths that
/// leave the root, devices, missing or truncated content, and digests that do not match, and where
/// the RPM was written to since it was verified.
[[nodiscard]] ImportedPackage import_package(const Context& ctx, const PackageFile& package);

/// All packages, in parallel, the largest first; the result is in the order of `packages`.
[[nodiscard]] std::vector<ImportedPackage> import_packages(const Context& ctx,
                                                           const PackageFiles& packages);

/// Throws Error unless `path` is absolute and normal: no empty, "." or ".." component.
void check_package_path(const std::string& package, const std::string& path);

}  // namespace edgegpu
