#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// A signature appended to a kernel module (struct module_signature of the kernel's
/// include/linux/module_signature.h, PKCS#7).
struct ModuleSignature {
    /// how many bytes of the module it signs
    std::size_t signed_size = 0;
    /// the DER of the PKCS#7 (CMS) message
    std::string message;
    /// "CN=…" of the signer's issuer, or empty where the message names a key id only
    std::string signer;
    /// serial number of the signer's certificate, or its key id; upper-case hexadecimal
    std::string key_id;

    /// "SIGNER, key KEY_ID" for messages.
    [[nodiscard]] std::string text() const;
};

/// What a kernel module says of itself.
struct ModuleInfo {
    /// `.modinfo`: "vermagic" → "6.1.0-47-amd64 SMP preempt mod_unload modversions "; of
    /// keys that come several times the first.
    std::map<std::string, std::string> values;
    std::optional<ModuleSignature> signature;

    /// A value, or "".
    [[nodiscard]] std::string value(const std::string& key) const;
    /// The kernel it is for, the first word of vermagic: "6.1.0-47-amd64".
    [[nodiscard]] std::string kernel() const;
};

/// The module itself where `content` is one that is compressed; else `content`. At most 1 GiB.
/// Throws Error beginning with `name`, also for what is no ELF file.
[[nodiscard]] std::string unpack_module(std::string content, const std::string& name);

/// Reads a module (a 64-bit little-endian ELF file, not compressed). Throws Error beginning with
/// `name` where the file, or a signature at its end, is malformed.
[[nodiscard]] ModuleInfo read_module(std::string_view content, const std::string& name);

/// Whether the signature fits the module and was made with the key of `certificate` (DER or PEM).
/// Nothing where the certificate is another signer's, or none at all.
[[nodiscard]] std::optional<bool> signature_fits(std::string_view content,
                                                 const ModuleSignature& signature,
                                                 std::string_view certificate);

}  // namespace edgegpu
