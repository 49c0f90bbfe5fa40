#pragma once

#include <optional>
#include <string_view>

namespace edgegpu {

/// Whether it is a quotation mark of word processors, or a backquote.
[[nodiscard]] bool is_curly_quote(char32_t code);

/// Whether it is a blank that TOML does not take for one, or a character that nothing shows.
[[nodiscard]] bool is_invisible(char32_t code);

/// `word` as a boolean of TOML, if it is one of another language ("yes", "True").
[[nodiscard]] std::optional<std::string_view> boolean_of(std::string_view word);

/// Whether `word` means no value in another language.
[[nodiscard]] bool is_null(std::string_view word);

/// `text` without the quotes, of any form, at its ends.
[[nodiscard]] std::string_view without_quotes(std::string_view text);

}  // namespace edgegpu
