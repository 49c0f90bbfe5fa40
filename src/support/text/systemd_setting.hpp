#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// The last `KEY=VALUE` of a section in a file of systemd's, without blanks around the value;
/// nothing without one.
[[nodiscard]] std::optional<std::string> last_setting(std::string_view text,
                                                      std::string_view section,
                                                      std::string_view key);

}  // namespace edgegpu
