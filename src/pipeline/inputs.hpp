#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fetch/fetch.hpp"
#include "pipeline/pipeline.hpp"

namespace edgegpu {

/// Digest of everything that determines the commit: the blueprint's inputs (`add_blueprint`), the
/// resolved packages and container images, `time` (of the image, Unix time), the build id of
/// edgegpu, and, if kernel modules are compiled, `certificate` (DER, or empty) of their signatures.
/// Paths on the build machine are not included. `blueprint` must come from `take_snapshot`; throws
/// Error if copies are missing.
[[nodiscard]] std::string inputs_digest(const Blueprint& blueprint, const Resolution& resolution,
                                        std::int64_t time, std::string_view certificate = {});

/// The time that everything in the image sees: SOURCE_DATE_EPOCH if set, else the newest build time
/// of the packages. Unix time. Throws ErrorKind::usage for a malformed variable.
[[nodiscard]] std::int64_t image_time(const Resolution& resolution);

/// "238 packages, kernel 6.1.0-47, driver 535.261.03"
[[nodiscard]] std::string describe(const Resolution& resolution);
/// "238 packages, 412 MB", or "299 packages, 1.1 GB, 61 of them to compile with"; a package in
/// several roots counts once.
[[nodiscard]] std::string describe(const FetchedPackages& packages);
/// Bytes of the layers of all images, compressed; an image with several names counts once.
[[nodiscard]] std::uint64_t total_bytes(const std::vector<ResolvedImage>& images);
/// "; 2 container images, 31 MB", each counted once; empty without images.
[[nodiscard]] std::string describe_images(const std::vector<ResolvedImage>& images);
/// "kmod-nvidia-open-535.261.03-6.1.0-47-3:535.261.03-1.el12.x86_64, 4 MB"
[[nodiscard]] std::string describe(const PackageFile& package);

}  // namespace edgegpu
