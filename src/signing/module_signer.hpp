#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"
#include "signing/openssl.hpp"

namespace edgegpu {

/// Ends every signed kernel module (MODULE_SIG_STRING of the kernel).
inline constexpr std::string_view signature_marker = "~Module signature appended~\n";

/// `struct module_signature` of the kernel's include/linux/module_signature.h, between the PKCS#7
/// message and the marker. All but `id_type` and `size` is 0 with PKCS#7.
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

/// A private key with its certificate. Only the signing process makes one (signing/signer.hpp): the
/// key is in no file that edgegpu writes, in no argument and in no message.
class ModuleSigner {
public:
    /// Reads and checks both files. Throws ErrorKind::usage beginning with the blueprint's line:
    /// the key is encrypted, not RSA (only RSA signatures are the same in every build), or not the
    /// certificate's.
    explicit ModuleSigner(const SecureBootRequest& request);

    /// What the kernel's scripts/sign-file appends to `module`: a detached CMS signature without
    /// attributes, SHA-256. The same bytes for the same module. Throws Error where OpenSSL
    /// refuses.
    [[nodiscard]] std::string signature(std::string_view module) const;
    /// The certificate, DER.
    [[nodiscard]] std::string certificate() const;
    /// Name of the certificate's file without extension.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
    KeyHandle key_;
    X509Handle certificate_;
};

}  // namespace edgegpu
