#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu {

/// The ErrorKind::usage Error for a document that is not TOML: names the mistakes that people make
/// (text without quotes, `yes`, `:` for `=`, a missing bracket, …) and shows the line as it should
/// be. `line` and `column` are where the parser stopped, `said` its message, which is shown for
/// everything else. Of a file whose real name does not end in ".toml" no text is shown: a blueprint
/// could name /etc/shadow.
[[nodiscard]] Error toml_syntax_error(const std::string& file, std::string_view text,
                                      std::uint32_t line, std::uint32_t column,
                                      std::string_view said);

}  // namespace edgegpu
