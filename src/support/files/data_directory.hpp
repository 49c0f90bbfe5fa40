#pragma once

#include <filesystem>

namespace edgegpu {

/// The directory of the shipped overlays, manifests and policy modules, the first of these that
/// exists: what EDGEGPU_DATADIR in the environment names; the one next to the running program
/// (PREFIX/bin and PREFIX/share/edgegpu), so that an installed tree can be moved; the sources, for
/// a program in its build directory; the configured prefix. That of the environment and the last
/// one are returned even if they do not exist.
[[nodiscard]] std::filesystem::path data_directory();

/// The same for a program at `program`, where EDGEGPU_DATADIR has the value `named` (null or
/// empty: not set).
[[nodiscard]] std::filesystem::path data_directory_of(const std::filesystem::path& program,
                                                      const char* named);

}  // namespace edgegpu
