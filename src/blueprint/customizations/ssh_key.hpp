#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// What is wrong with a public key, and a hint; both empty for a valid key.
struct KeyFault {
    std::string reason;
    std::string hint;
};

/// Checks one line of authorized_keys (sshd(8), AUTHORIZED_KEYS FILE FORMAT): options, type, base64
/// and a comment. Empty lines and comments are valid. The key is decoded (RFC 4253, 6.6, RFC 5656,
/// RFC 8709, PROTOCOL.u2f of OpenSSH): its inner type must equal the outer one, and its fields must
/// have the right lengths and fill it exactly. Of certificates only the type is checked.
[[nodiscard]] KeyFault ssh_key_fault(std::string_view line);

}  // namespace edgegpu
