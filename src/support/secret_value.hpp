#pragma once

#include <string_view>

namespace edgegpu {

/// Whether the value of a setting that holds a secret is one, and not a placeholder for it: no
/// variable, path, description or word such as "changeme". Quotation marks are not part of it.
[[nodiscard]] bool is_secret_value(std::string_view value);

}  // namespace edgegpu
