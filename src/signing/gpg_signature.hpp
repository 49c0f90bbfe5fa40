#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// A detached signature (binary packets) of `content` with the GPG key `key`, whose secret half is
/// in `homedir` (empty: the user's GPG home). Nobody is asked for a passphrase. Throws Error
/// "cannot sign with GPG key …" with what the key needs.
[[nodiscard]] std::string make_gpg_signature(const std::string& key,
                                             const std::filesystem::path& homedir,
                                             std::string_view content);

}  // namespace edgegpu
