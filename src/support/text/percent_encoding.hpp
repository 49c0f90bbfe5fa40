#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Whether `text` begins with "%41" or the like (RFC 3986, section 2.1).
[[nodiscard]] bool is_percent_encoded(std::string_view text);

/// `text` with the bytes that percent-encodings stand for; a '%' of none stays.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace edgegpu
