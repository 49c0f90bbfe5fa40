#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "resolve/resolution.hpp"

namespace edgegpu {

/// A package made here, of files that no repository ships.
struct MadePackage {
    Nevra nevra;
    std::string summary;
    std::string license;
    /// Unix time, and the modification time of all files
    std::int64_t build_time = 0;
    /// further capabilities it provides: name, [epoch:]version[-release]
    std::vector<std::pair<std::string, std::string>> provides;
    /// absolute path → content; files are root:root 0644
    std::map<std::string, std::string> files;
};

/// The package as an RPM file (version 3 of the format, payload cpio.gz), unsigned: the compose
/// stage takes it as any other, and it has a row in the rpmdb. The same bytes for the same value;
/// its header does not depend on the compressor. Throws Error for an empty package, or what the
/// format cannot carry (4 GiB).
[[nodiscard]] std::string make_rpm(const MadePackage& package);

}  // namespace edgegpu
