#pragma once

#include <map>
#include <string>
#include <string_view>

namespace edgegpu::gpu_health {

/// What a kernel module says of itself.
struct ModuleText {
    /// section .modinfo: "vermagic" → "6.1.0-47-amd64 SMP preempt mod_unload modversions"; the
    /// first value of a repeated key, without blanks at its end
    std::map<std::string, std::string> values;
    bool is_signed = false;
    /// as Signer has them; empty if the signature is damaged
    std::string signer;
    std::string key_id;

    /// A value, or "".
    [[nodiscard]] std::string value(const std::string& key) const;
};

/// Reads an unpacked module, a 64-bit little-endian ELF file. Throws std::runtime_error if it is
/// none or is not whole.
[[nodiscard]] ModuleText read_elf_module(std::string_view content);

}  // namespace edgegpu::gpu_health
