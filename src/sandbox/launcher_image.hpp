#pragma once

#include <string_view>

namespace edgegpu {

/// The static executable of launcher.cpp, which is embedded in edgegpu.
[[nodiscard]] std::string_view launcher_image() noexcept;

/// Where the sandbox of an image's program has it.
inline constexpr std::string_view launcher_path = "/run/edgegpu-launcher";
/// Its exit status if it lacks arguments.
inline constexpr int launcher_usage = 127;

}  // namespace edgegpu
