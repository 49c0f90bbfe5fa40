#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// A program of the user's that makes ed25519 signatures, since the key is in a device that nobody
/// reads it from (PKCS#11, a service): it gets what is to be signed as its standard input, and
/// gives the 64 bytes of the signature as its standard output. It has no arguments, and the
/// environment of the caller; what it says on standard error is lost. Used in the signing process
/// only (signing/signer.hpp).
class Ed25519Command {
public:
    /// Runs the program for `trial_text`, to see that it can be used, and which of the public keys
    /// in the file `public_keys` it has. Throws ErrorKind::usage if it is none of them, or the file
    /// has none.
    Ed25519Command(std::filesystem::path program, const std::filesystem::path& public_keys);

    /// A signature (64 bytes) that the public key verifies. Throws Error if the program cannot be
    /// started, fails, takes longer than 100 seconds, or gives anything else.
    [[nodiscard]] std::string signature(std::string_view content) const;
    /// The public key, 32 bytes.
    [[nodiscard]] const std::string& public_key() const noexcept { return public_key_; }

private:
    [[nodiscard]] std::string output(std::string_view content) const;

    std::filesystem::path program_;
    std::string public_key_;
};

}  // namespace edgegpu
