#pragma once

#include <map>
#include <string>
#include <string_view>

namespace edgegpu {

/// `word` as a shell takes it literally, in quotation marks.
[[nodiscard]] std::string shell_word(std::string_view word);

/// `text` with the value of NAME in `values` for each `@NAME@`. Values are not searched again;
/// other text between two '@' stays.
[[nodiscard]] std::string fill_in(std::string_view text,
                                  const std::map<std::string_view, std::string>& values);

}  // namespace edgegpu
