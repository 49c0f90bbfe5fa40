#pragma once

#include <string>

#include "disk/injection.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Verifies that a key which the image has for `remote` (gpgkeypath in /etc/ostree/remotes.d, of
/// the commit or injected) has signed the commit, as the installer will on the machine: what it
/// would refuse there is refused where it can be changed. An empty `remote` is none. Throws Error
/// with a hint for a commit without a good signature, and for an image without keys.
void check_commit_signature(const Context& ctx, const CommitView& commit, const std::string& remote,
                            const Injection& injection);

}  // namespace edgegpu
