#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Where private keys begin in a text: PEM and OpenPGP armour with content, and PEM in base64, as
/// kubeconfigs and Secrets have it. Keys that the TPM of one machine has wrapped are none.
[[nodiscard]] std::vector<std::size_t> find_private_keys(std::string_view content);

/// Whether a file is a private key in a binary form: DER, OpenPGP, a keytab. PKCS#12 is taken for
/// one by its name.
[[nodiscard]] bool is_binary_private_key(std::string_view name, std::string_view content);

/// What base64 stands for, without NULs at its end; nothing if it is no base64, or less than eight
/// characters of it.
[[nodiscard]] std::optional<std::string> base64_text(std::string_view encoded);

}  // namespace edgegpu
