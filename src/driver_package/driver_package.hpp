#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "driver_package/placement.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

/// A package that was made of a run file.
struct DriverPackage {
    Nevra nevra;
    /// In the directory.
    std::string file;
    std::uint64_t size = 0;
    std::string sha256;
    std::size_t files = 0;
};

/// A repository of packages that was made of a run file.
struct DriverRepository {
    /// Absolute.
    std::filesystem::path directory;
    std::string version;
    std::string architecture;
    /// Of the run file.
    std::string sha256;
    bool is_guest = false;
    /// Sorted by name.
    std::vector<DriverPackage> packages;
    /// As Placement::left_out.
    std::map<std::string, std::vector<std::string>> left_out;
};

/// Makes a repository of RPM packages, named as in NVIDIA's repositories for RHEL, of a run file:
/// user space, firmware, and the sources of both kinds of modules, which a build compiles for its
/// kernel. Nothing of the run file is executed, nothing of this machine changed. `wanted` is there
/// when it is complete. The same run file and the same rpm give the same packages. Throws Error as
/// unpack_run_file, parse_driver_manifest, place_files and build_rpms do; ErrorKind::usage if
/// `wanted` exists.
[[nodiscard]] DriverRepository package_driver(const Context& ctx, Stages& stages,
                                              const std::filesystem::path& run_file,
                                              const std::filesystem::path& wanted);

}  // namespace edgegpu
