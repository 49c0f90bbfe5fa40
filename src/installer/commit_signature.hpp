#pragma once

#include <string>
#include <vector>

#include "disk/injection.hpp"
#include "execution/context.hpp"
#include "openpgp/key_file.hpp"
#include "repository/commit_view.hpp"
#include "repository/remote_config.hpp"

namespace edgegpu {

/// Verifies that a key which `image` has for `remote` (gpgkeypath in /etc/ostree/remotes.d, of the
/// image or injected) has signed the commit, as a device that runs it will, or the installer: what
/// they would refuse is refused where it can be changed. An empty `remote` is none. Throws Error
/// with a hint for a commit without a good signature, and for an image without keys.
void check_commit_signature(const Context& ctx, const CommitView& commit, const CommitView& image,
                            const std::string& remote, const Injection& injection);

/// Whether one of `keys`, that has not expired, has signed the commit.
[[nodiscard]] bool is_signed_by(const Context& ctx, const CommitView& commit,
                                const std::vector<Certificate>& keys);

/// The remotes that an image configures.
[[nodiscard]] std::vector<RemoteConfig> remotes_of(const CommitView& image);

/// The keys that an image has for a remote (gpgkeypath: files, and directories with them); none if
/// it names none. Throws Error for a file that is missing or has no keys.
[[nodiscard]] std::vector<Certificate> keys_of_remote(const CommitView& image,
                                                      const std::string& remote);

}  // namespace edgegpu
