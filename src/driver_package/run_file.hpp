#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "execution/context.hpp"

namespace edgegpu {

/// What was in a run file.
struct UnpackedRunFile {
    /// Of the run file.
    std::string sha256;
    /// Regular files, relative to the directory.
    std::set<std::string> paths;
    /// When its manifest was written, Unix time: that of the driver, whoever downloads it when.
    std::int64_t time = 0;
};

/// Unpacks NVIDIA's run file (a shell script by makeself, then a compressed tar archive from line
/// `skip=` on) into `directory`, which exists and is empty. Nothing of it is executed. The MD5 that
/// the script names is compared: it finds damage, not attacks. Throws ErrorKind::usage for what is
/// no such file, is damaged or truncated, or has members that leave the directory.
[[nodiscard]] UnpackedRunFile unpack_run_file(const Context& ctx, const std::filesystem::path& file,
                                              const std::filesystem::path& directory);

}  // namespace edgegpu
