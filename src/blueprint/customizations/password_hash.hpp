#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Why a text is not valid as the second field of shadow(5), or empty if it is: a complete hash of
/// crypt(5) with the prefix $1$, $2a$, $2b$, $2y$, $5$, $6$, $7$, $y$ or $gy$, "*", "!", "!!",
/// "!*", or such a hash after "!" or "!!" (locked). The reason never quotes the text, which may be
/// a password.
[[nodiscard]] std::string password_hash_fault(std::string_view text);

}  // namespace edgegpu
