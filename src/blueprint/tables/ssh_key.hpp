#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// What is wrong with a public key, and the way out; both empty where nothing is.
struct KeyFault {
    std::string reason;
    std::string hint;
};

/// Judges one line of authorized_keys (sshd(8), AUTHORIZED_KEYS FILE FORMAT): options, type, base64
/// and a comment. Empty lines and comments are right. The key itself is taken apart (RFC 4253, 6.6,
/// RFC 5656, RFC 8709, PROTOCOL.u2f and PROTOCOL.certkeys of OpenSSH): its inner type has to be the
/// outer one, and its parts have to fill it exactly.
[[nodiscard]] KeyFault ssh_key_fault(std::string_view line);

}  // namespace edgegpu
