#pragma once

#include <string>
#include <utility>
#include <vector>

#include "disk/injection.hpp"
#include "openpgp/key_file.hpp"
#include "repository/commit_view.hpp"
#include "repository/remote_config.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// The Error for a commit that devices would refuse: other Errors are about asking.
class RefusedCommit : public Error {
public:
    explicit RefusedCommit(Error reason) : Error(std::move(reason)) {}
};

/// The remotes that an image configures, with what is injected.
[[nodiscard]] std::vector<RemoteConfig> remotes_of(const CommitView& image,
                                                   const Injection& injection = {});

/// The keys that an image has for a remote (gpgkeypath: files, and directories with them), or else
/// for all remotes (/usr/share/ostree/trusted.gpg.d); none if it has none. Throws Error for a file
/// that is missing or has no keys.
[[nodiscard]] std::vector<Certificate> keys_of_remote(const CommitView& image,
                                                      const Injection& injection,
                                                      const std::string& remote);

/// Whether a remote takes ed25519 signatures, by a setting of it (sign-verify).
[[nodiscard]] bool takes_ed25519(const std::vector<std::string>& kinds);

/// The public ed25519 keys (32 bytes each) that an image has for a remote with sign-verify: those
/// of the remote, or else, with sign-verify=true alone, of all remotes
/// (/etc/ostree/trusted.ed25519), without those that are revoked there; none if it has none, or its
/// kinds of signatures are others. Throws RefusedCommit for a file that is missing or has no key,
/// for a remote that names the kind and no key, and if all keys are revoked.
[[nodiscard]] std::vector<std::string> ed25519_keys_of(const CommitView& image,
                                                       const Injection& injection,
                                                       const RemoteConfig& remote);

}  // namespace edgegpu
