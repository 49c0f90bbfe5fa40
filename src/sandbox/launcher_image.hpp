#pragma once

#include <string_view>

namespace edgegpu {

/// The static executable that launcher.cpp becomes, which edgegpu carries in itself.
[[nodiscard]] std::string_view launcher_image() noexcept;

}  // namespace edgegpu
