#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "signing/openssl.hpp"
#include "signing/request.hpp"

namespace edgegpu {

/// The end of each signed kernel module (MODULE_SIG_STRING of the kernel).
inline constexpr std::string_view signature_marker = "~Module signature appended~\n";

/// `struct module_signature` of the kernel's include/linux/module_signature.h, between the PKCS#7
/// message and the marker. For PKCS#7, all members but `id_type` and `size` are 0.
struct SignatureTrailer {
    static constexpr std::uint8_t pkcs7 = 2;

    std::uint8_t algorithm = 0;
    std::uint8_t hash = 0;
    std::uint8_t id_type = pkcs7;
    std::uint8_t signer_size = 0;
    std::uint8_t key_id_size = 0;
    std::array<std::uint8_t, 3> padding{};
    /// size of the message, big endian
    std::array<std::uint8_t, 4> size{};
};
static_assert(sizeof(SignatureTrailer) == 12);

/// A private key with its certificate. Used in the signing process only (signing/signer.hpp): the
/// key is never written to a file, an argument or a message.
class ModuleSigner {
public:
    /// Reads and checks both files. Throws ErrorKind::usage with the blueprint's line if one cannot
    /// be read, or if the key is encrypted, not RSA (only RSA signatures are reproducible), or not
    /// that of the certificate.
    explicit ModuleSigner(const ModuleKey& request);

    /// What the kernel's scripts/sign-file appends to `module`: a detached CMS signature without
    /// attributes (SHA-256), SignatureTrailer and `signature_marker`; the same bytes for the same
    /// module. Throws Error if OpenSSL fails.
    [[nodiscard]] std::string signature(std::string_view module) const;
    /// The certificate (DER).
    [[nodiscard]] std::string certificate() const;
    /// The name of the certificate's file without extension.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
    KeyHandle key_;
    X509Handle certificate_;
};

}  // namespace edgegpu
