#pragma once

#include <filesystem>

namespace edgegpu {

/// Where the installed overlays, manifests and policy modules are: beside the running program
/// (PREFIX/bin and PREFIX/share/edgegpu), so that an installed tree may be moved; where nothing is
/// there, the prefix edgegpu was configured with. Need not exist.
[[nodiscard]] std::filesystem::path data_directory();

}  // namespace edgegpu
