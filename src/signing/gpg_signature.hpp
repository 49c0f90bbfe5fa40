#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// A detached signature (binary packets) of `content` with the GPG key `key`, whose secret key is
/// in `homedir` (empty: the user's GPG home). Never asks for a passphrase. Throws Error "cannot
/// sign with GPG key …" with the requirements of a key.
[[nodiscard]] std::string make_gpg_signature(const std::string& key,
                                             const std::filesystem::path& homedir,
                                             std::string_view content);

/// The same of a file's content, as ASCII armor, which `gpg --verify SIGNATURE FILE` takes.
[[nodiscard]] std::string make_gpg_file_signature(const std::string& key,
                                                  const std::filesystem::path& homedir,
                                                  const std::filesystem::path& file);

}  // namespace edgegpu
