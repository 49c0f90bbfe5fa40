#pragma once

#include <string>
#include <utility>
#include <vector>

#include "disk/injection.hpp"
#include "execution/context.hpp"
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

/// Verifies that keys which `image` has for `remote` (gpgkeypath in /etc/ostree/remotes.d, of the
/// image or injected, and where sign-verify is set those of ed25519) have signed the commit, as a
/// device that runs it will, or the installer: what they would refuse is refused where it can be
/// changed. An empty `remote` is none. Throws RefusedCommit with a hint for a commit without a good
/// signature, and for an image without keys.
void check_commit_signature(const Context& ctx, const CommitView& commit, const CommitView& image,
                            const std::string& remote, const Injection& injection);

/// Whether one of `keys`, that has not expired, has signed the commit.
[[nodiscard]] bool is_signed_by(const Context& ctx, const CommitView& commit,
                                const std::vector<Certificate>& keys);

/// The public ed25519 keys (32 bytes each) that an image has for a remote with sign-verify: those
/// of the remote, or else of all remotes (/etc/ostree/trusted.ed25519), without those that are
/// revoked there; none if it has none, or its kinds of signatures are others. Throws Error for a
/// file that is missing or has no key.
[[nodiscard]] std::vector<std::string> ed25519_keys_of(const CommitView& image,
                                                       const RemoteConfig& remote);

/// Whether a remote takes ed25519 signatures, by a setting of it (sign-verify).
[[nodiscard]] bool takes_ed25519(const std::vector<std::string>& kinds);

/// Throws RefusedCommit unless devices that run `image` take the ed25519 signatures of the commit,
/// as far as their keys are known. Nothing is known of other kinds.
void check_ed25519_signature(const CommitView& commit, const CommitView& image,
                             const RemoteConfig& remote);

/// Whether one of `keys` has signed the commit.
[[nodiscard]] bool is_signed_by_ed25519(const CommitView& commit,
                                        const std::vector<std::string>& keys);

/// Throws RefusedCommit unless devices that run `image` will take the signatures of `commit`, as
/// each of their remotes verifies them. Where it names no keys, they have others, of which nothing
/// is known.
void require_signed_commit(const Context& ctx, const CommitView& commit, const CommitView& image);

/// The remotes that an image configures.
[[nodiscard]] std::vector<RemoteConfig> remotes_of(const CommitView& image);

/// The keys that an image has for a remote (gpgkeypath: files, and directories with them); none if
/// it names none. Throws Error for a file that is missing or has no keys.
[[nodiscard]] std::vector<Certificate> keys_of_remote(const CommitView& image,
                                                      const std::string& remote);

}  // namespace edgegpu
