#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "resolve/resolution.hpp"

namespace edgegpu {

/// A package created by edgegpu.
struct MadePackage {
    Nevra nevra;
    std::string summary;
    std::string license;
    /// Unix time; also the modification time of all files.
    std::int64_t build_time = 0;
    /// Provides besides its own name: name, [epoch:]version[-release].
    std::vector<std::pair<std::string, std::string>> provides;
    /// Absolute path → content; owner root:root, mode 0644.
    std::map<std::string, std::string> files;
};

/// The package as an unsigned RPM file (format version 3, payload cpio.gz), which compose installs
/// like any other. Deterministic; the header does not depend on the compressor. Throws Error for a
/// package without files, or of 4 GiB and more, the limit of the format.
[[nodiscard]] std::string make_rpm(const MadePackage& package);

}  // namespace edgegpu
