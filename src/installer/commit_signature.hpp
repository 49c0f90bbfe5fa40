#pragma once

#include <string>
#include <vector>

#include "disk/injection.hpp"
#include "execution/context.hpp"
#include "installer/remote_keys.hpp"
#include "openpgp/key_file.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

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

/// Whether one of `keys` has signed the commit.
[[nodiscard]] bool is_signed_by_ed25519(const CommitView& commit,
                                        const std::vector<std::string>& keys);

/// Throws RefusedCommit unless devices that run `image` will take `commit`: its signatures, as each
/// of their remotes verifies them, and its collection; and unless they find updates by one of these
/// remotes afterwards, too. Where the image has no keys, devices may
/// have others, of which nothing is known: that is a warning.
void require_acceptable(const Context& ctx, const CommitView& commit, const CommitView& image);

}  // namespace edgegpu
