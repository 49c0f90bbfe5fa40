#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::gpu_health {

/// Who signed a PKCS#7 message.
struct Signer {
    /// Name of the issuer as RFC 2253 writes it: "CN=Fedora kernel signing key,O=Fedora"; empty
    /// where the message has a key id.
    std::string name;
    /// Serial number or subject key id, upper-case hexadecimal as edgegpu writes it.
    std::string key_id;
};

/// The one signer of a CMS SignedData message (RFC 5652), DER as the kernel's sign-file writes it.
/// Nothing: it is none, is damaged, or has none or several signers.
[[nodiscard]] std::optional<Signer> signer_of(std::string_view message);

/// The serial number and the subject key id of an X.509 certificate (DER), upper-case hexadecimal;
/// what it lacks is left out. None: it is damaged.
[[nodiscard]] std::vector<std::string> ids_of_certificate(std::string_view certificate);

}  // namespace edgegpu::gpu_health
