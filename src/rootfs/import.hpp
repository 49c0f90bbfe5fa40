#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "rootfs/rpm_header.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

/// One path of a package, as its header describes it.
struct ImportedFile {
    /// absolute and normal; links of the image are not resolved
    std::string path;
    /// type, mode, size, digest, content, target and capabilities are set; owner numbers are not
    Entry entry;
    std::string user;
    std::string group;
    /// RPMFILE_* bits
    std::uint32_t flags = 0;

    [[nodiscard]] bool is_ghost() const { return (flags & RPMFILE_GHOST) != 0; }
};

/// An unpacked package in the cache: `imports/<sha256 of the RPM>/` with `manifest` (this value),
/// `header` (the blob of the RPM's header) and `files/<n>` (owned by root, with the header's mode
/// and capabilities, which hard links to them share).
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

/// Unpacks one package into the cache, unless it is there. Uses the descriptor through which the
/// package was verified, and checks the content of each file against the header's SHA-256. Throws
/// Error "package NEVRA: …" for paths that leave the root, devices, missing or truncated content,
/// digests that do not match, and an RPM that was modified after it was verified.
[[nodiscard]] ImportedPackage import_package(const Context& ctx, const PackageFile& package);

/// Imports all packages in parallel, the largest first; returns them in the order of `packages`.
[[nodiscard]] std::vector<ImportedPackage> import_packages(const Context& ctx,
                                                           const PackageFiles& packages);

/// Throws Error unless `path` is absolute and normal: no empty, "." or ".." component.
void check_package_path(const std::string& package, const std::string& path);

}  // namespace edgegpu
