#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Why a text cannot be the second field of shadow(5), or empty where it can: a hash of crypt(5)
/// of the kinds $1$, $2a$, $2b$, $2y$, $5$, $6$, $7$, $y$ and $gy$ with everything that belongs to
/// it, "*", "!" or "!!", or such a hash behind "!" (locked). The reason never quotes the text,
/// which may be a password.
[[nodiscard]] std::string password_hash_fault(std::string_view text);

}  // namespace edgegpu
