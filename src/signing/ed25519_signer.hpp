#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "signing/openssl.hpp"

namespace edgegpu {

/// A secret ed25519 key, as `ostree sign --sign-type=ed25519` has it: base64 of 64 bytes (seed and
/// public key) or of the 32 bytes of the seed; or of OpenSSL (PEM). Used in the signing process
/// only (signing/signer.hpp): the key is never written to a file, an argument or a message.
class Ed25519Signer {
public:
    /// Reads the file. Throws ErrorKind::usage if it cannot be read, is encrypted or no such key,
    /// or if its public key is not that of its seed.
    explicit Ed25519Signer(const std::filesystem::path& file);

    /// A signature (64 bytes), the same for the same content. Throws Error if OpenSSL fails.
    [[nodiscard]] std::string signature(std::string_view content) const;
    /// The public key, 32 bytes.
    [[nodiscard]] const std::string& public_key() const noexcept { return public_key_; }

private:
    KeyHandle key_;
    std::string public_key_;
};

}  // namespace edgegpu
