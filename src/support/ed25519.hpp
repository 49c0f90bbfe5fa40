#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// The key of ed25519 signatures in detached metadata and in `summary.sig`, `aay` (libostree,
/// ostree-sign-ed25519.c).
inline constexpr const char* ed25519_signatures_key = "ostree.sign.ed25519";

/// The public keys (32 bytes each) in a file as libostree reads it, base64 with one key a line, or
/// in one of OpenSSL (PEM); in its order. Lines that are no key are passed over, as libostree does.
[[nodiscard]] std::vector<std::string> read_ed25519_keys(std::string_view text);

/// The same keys as libostree reads them.
[[nodiscard]] std::string ed25519_key_file(const std::vector<std::string>& keys);

/// Whether `signature` (64 bytes) is of `content`, by one of `keys`.
[[nodiscard]] bool verifies_ed25519(const std::vector<std::string>& keys, std::string_view content,
                                    std::string_view signature);

}  // namespace edgegpu
