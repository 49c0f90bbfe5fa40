#pragma once

#include <filesystem>

namespace edgegpu {

/// Where the shipped overlays, manifests and policy modules are: what the environment's
/// EDGEGPU_DATADIR names; beside the running program (PREFIX/bin and PREFIX/share/edgegpu), so that
/// an installed tree may be moved; the sources, for a program in its build directory; the prefix
/// edgegpu was configured with. The first that exists; the last, and what EDGEGPU_DATADIR names,
/// need not exist.
[[nodiscard]] std::filesystem::path data_directory();

/// The same for a program at `program`, where EDGEGPU_DATADIR has the value `named` (may be null or
/// empty, which is none).
[[nodiscard]] std::filesystem::path data_directory_of(const std::filesystem::path& program,
                                                      const char* named);

}  // namespace edgegpu
