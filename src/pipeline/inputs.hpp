#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fetch/fetch.hpp"
#include "pipeline/pipeline.hpp"

namespace edgegpu {

/// Digest of everything that decides the commit: the blueprint's inputs (`add_blueprint`), the
/// resolved packages, `time` (that of the image, Unix time) and this very build of edgegpu. Paths
/// of the builder do not enter it. `blueprint` is what `take_snapshot` returned; `certificate`
/// (DER) is that of the kernel modules' signatures, or empty. Throws Error for a blueprint without
/// copies.
[[nodiscard]] std::string inputs_digest(const Blueprint& blueprint, const Resolution& resolution,
                                        std::int64_t time, std::string_view certificate = {});

/// "Now" for everything inside the image: SOURCE_DATE_EPOCH where set, else the newest build
/// time of the packages. Unix time. Throws ErrorKind::usage for a malformed variable.
[[nodiscard]] std::int64_t image_time(const Resolution& resolution);

/// "238 packages, kernel 6.1.0-47, driver 535.261.03"
[[nodiscard]] std::string describe(const Resolution& resolution);
/// "238 packages, 412 MB", or "299 packages, 1.1 GB, 61 of them to compile with": each counts once.
[[nodiscard]] std::string describe(const FetchedPackages& packages);
/// "kmod-nvidia-open-535.261.03-6.1.0-47-3:535.261.03-1.el12.x86_64, 4 MB"
[[nodiscard]] std::string describe(const PackageFile& package);

/// The result of a build whose inputs are those of `parent`.
[[nodiscard]] BuildResult unchanged_result(const std::string& ref, const Resolution& resolution,
                                           const Parent& parent);

}  // namespace edgegpu
