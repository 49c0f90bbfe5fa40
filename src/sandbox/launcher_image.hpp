#pragma once

#include <string_view>

namespace edgegpu {

/// The static executable of launcher.cpp, which is embedded in edgegpu.
[[nodiscard]] std::string_view launcher_image() noexcept;

}  // namespace edgegpu
