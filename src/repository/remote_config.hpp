#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A remote as a file of /etc/ostree/remotes.d configures it (ostree.repo-config(5)).
struct RemoteConfig {
    std::string name;
    /// commits are accepted only with a signature: gpg-verify, which is ostree's default, or
    /// sign-verify, which may also name kinds of keys
    bool verifies = false;
    /// by sign-verify, with keys that are none of OpenPGP
    bool verifies_by_key = false;
    /// summaries are: gpg-verify-summary
    bool verifies_summary = false;
    /// gpgkeypath: files and directories of keys
    std::vector<std::string> key_paths;
};

/// The remotes in the text of such a file, in its order; none if ostree could not read it.
[[nodiscard]] std::vector<RemoteConfig> read_remotes(std::string_view text);

}  // namespace edgegpu
