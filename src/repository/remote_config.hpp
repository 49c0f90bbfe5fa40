#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A remote as a file of /etc/ostree/remotes.d configures it (ostree.repo-config(5)).
struct RemoteConfig {
    std::string name;
    /// commits are accepted only with a signature by a GPG key: gpg-verify, which is ostree's
    /// default
    bool verifies_by_gpg = false;
    /// commits are accepted only with a signature of these kinds (beside that by a GPG key, if both
    /// are set): sign-verify, "true" for any of them
    std::vector<std::string> sign_verify;
    /// summaries are accepted only with a signature by a GPG key: gpg-verify-summary
    bool verifies_summary = false;
    /// the same with one of these kinds: sign-verify-summary
    std::vector<std::string> sign_verify_summary;
    /// gpgkeypath: files and directories of keys
    std::vector<std::string> key_paths;
    /// verification-ed25519-file, or empty: a file with keys
    std::string ed25519_file;
    /// verification-ed25519-key, or empty: a key in base64
    std::string ed25519_key;
    /// collection-id, or empty
    std::string collection;

    /// Whether commits are accepted only with a signature of some kind.
    [[nodiscard]] bool verifies() const { return verifies_by_gpg || !sign_verify.empty(); }
};

/// Whether devices that follow one of the remotes `before`, whichever, find it among those of the
/// image `after`, which replaces it: their own files of /etc are those of the image. Without any
/// before, they have others.
[[nodiscard]] bool keeps_a_remote(const std::vector<RemoteConfig>& before,
                                  const std::vector<RemoteConfig>& after);
/// What to do about it where they do not.
[[nodiscard]] std::string hint_to_keep(const RemoteConfig& remote);

/// The remotes in the text of such a file, in its order; none if ostree could not read it.
[[nodiscard]] std::vector<RemoteConfig> read_remotes(std::string_view text);

}  // namespace edgegpu
