#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// A detached signature (binary packets) of `content` with the GPG key `key`, whose secret key is
/// in `homedir` (empty: the user's GPG home). Never asks for a passphrase. Throws Error "cannot
/// sign with GPG key …" with the requirements of a key; for a name of several keys with all of
/// them.
[[nodiscard]] std::string make_gpg_signature(const std::string& key,
                                             const std::filesystem::path& homedir,
                                             std::string_view content);

/// A signature that shows whether a key can be used.
struct TrialSignature {
    /// As that of `make_gpg_signature`, of `trial_text`.
    std::string signature;
    /// Of the primary key, 40 upper-case hexadecimal digits; a subkey may have made the signature.
    std::string fingerprint;
    /// Its public key (binary packets).
    std::string public_key;
};

/// What a trial signature is of. It says of itself that it means nothing, and can be taken neither
/// for a commit nor for a summary, package or message of anybody.
inline constexpr std::string_view trial_text =
    "edgegpu: a trial whether this key can sign. It signs nothing else and approves of nothing.\n";

/// Signs `trial_text`. Throws as `make_gpg_signature` does.
[[nodiscard]] TrialSignature make_trial_signature(const std::string& key,
                                                  const std::filesystem::path& homedir);

/// `make_gpg_signature` of a file's content, as ASCII armor, which `gpg --verify SIGNATURE FILE`
/// takes.
[[nodiscard]] std::string make_gpg_file_signature(const std::string& key,
                                                  const std::filesystem::path& homedir,
                                                  const std::filesystem::path& file);

}  // namespace edgegpu
