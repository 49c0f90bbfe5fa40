#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver_package/driver_manifest.hpp"

namespace edgegpu {

/// A file or link of a package.
struct DriverFile {
    DriverPart part = DriverPart::cuda;
    /// Absolute.
    std::string path;
    /// Permission bits.
    unsigned mode = 0644;
    /// Below the unpacked run file; empty for what is made here, and links.
    std::string source;
    /// Of a symbolic link; else empty.
    std::string target = {};
    /// Of what is made here.
    std::string content = {};
};

/// What becomes of the files of a run file.
struct Placement {
    /// Sorted by part, then path.
    std::vector<DriverFile> files;
    /// Why images do not get them → files, in the manifest's order.
    std::map<std::string, std::vector<std::string>> left_out;
    /// Whether it is the driver of a guest with a virtual GPU.
    bool is_guest = false;
};

/// Decides for every file of the manifest where it belongs, by EL's layout. `unpacked` are the
/// paths of all files in the archive. A guest's driver gets what scripts of its installer would
/// make: the units of its daemons, their D-Bus policy. Throws ErrorKind::usage for the driver of a
/// host that offers virtual GPUs, for a file that is missing in the archive, for two files in one
/// place, and if it has no modules, or no nvidia-smi.
[[nodiscard]] Placement place_files(const DriverManifest& manifest,
                                    const std::set<std::string>& unpacked,
                                    const std::string& origin);

}  // namespace edgegpu
