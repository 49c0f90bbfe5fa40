#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace edgegpu {

/// A signature appended to a kernel module (struct module_signature of the kernel's
/// include/linux/module_signature.h, PKCS#7).
struct ModuleSignature {
    /// Size of the signed content, which precedes the signature.
    std::size_t signed_size = 0;
    /// The PKCS#7 (CMS) message, DER.
    std::string message;
    /// "CN=…" of the issuer of the signer's certificate, or empty if the message contains a key id
    /// instead.
    std::string signer;
    /// Serial number or key id of the signer's certificate; upper-case hexadecimal.
    std::string key_id;

    /// "SIGNER, key KEY_ID" for messages.
    [[nodiscard]] std::string text() const;
};

/// Metadata of a kernel module.
struct ModuleInfo {
    /// `.modinfo`: "vermagic" → "6.1.0-47-amd64 SMP preempt mod_unload modversions "; the first
    /// value of a repeated key.
    std::map<std::string, std::string> values;
    std::optional<ModuleSignature> signature;
    /// Symbols that it takes from the kernel or from other modules, but for weak ones, which may be
    /// missing: name → version, a checksum of the symbol's type (section `__versions`, an array of
    /// struct modversion_info of the kernel's include/linux/module.h). Without a version if the
    /// module has none for it.
    std::map<std::string, std::optional<std::uint32_t>> imports;
    /// Symbols that it offers to other modules (section `__ksymtab_strings`).
    std::set<std::string> exports;

    /// A value, or "".
    [[nodiscard]] std::string value(const std::string& key) const;
    /// The kernel it is for, the first word of vermagic: "6.1.0-47-amd64".
    [[nodiscard]] std::string kernel() const;
};

/// Decompresses a kernel module, to at most 1 GiB; an uncompressed one is returned as it is. Throws
/// Error beginning with `name` if the result is not an ELF file.
[[nodiscard]] std::string unpack_module(std::string content, const std::string& name);

/// Reads an uncompressed module (a 64-bit little-endian ELF file). Throws Error beginning with
/// `name` if the file or its appended signature is malformed.
[[nodiscard]] ModuleInfo read_module(std::string_view content, const std::string& name);

/// Whether `signature` is a valid signature of the module by the key of `certificate` (DER or PEM).
/// Nothing if the certificate is not the signer's or cannot be parsed.
[[nodiscard]] std::optional<bool> signature_fits(std::string_view content,
                                                 const ModuleSignature& signature,
                                                 std::string_view certificate);

}  // namespace edgegpu
