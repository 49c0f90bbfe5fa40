#pragma once

#include <string>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// GnuPG's result for one signature packet.
enum class GnupgAnswer {
    fits,     ///< the signature is valid; its key may have expired since
    expired,  ///< valid, but the signature has expired
    bad,      ///< the signature is of other content
    revoked,  ///< valid, with a revoked key
    refused   ///< anything else, see `detail`
};

/// Verifies one detached signature (a binary packet) of `content` with the keys in `certificates`
/// (binary packets), with gpg in a sandbox (sandbox/tool.hpp), without configuration, agent and
/// network: as libostree does, which gives gpg the files of a remote's keys as its keyring.
/// `detail` is set to GnuPG's words for `refused`. Thread-safe. Throws Error if gpg does not
/// run, since that says nothing of the signature.
[[nodiscard]] GnupgAnswer ask_gnupg(const Context& ctx, std::string_view content,
                                    std::string_view signature, const std::string& certificates,
                                    std::string& detail);

}  // namespace edgegpu
