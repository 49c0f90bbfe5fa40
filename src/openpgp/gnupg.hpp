#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// What GnuPG says of one signature packet.
enum class GnupgAnswer {
    fits,     ///< the signature is right, though its key may have expired since
    expired,  ///< right, but the signature says that it no longer holds
    bad,      ///< the signature is not of this content
    revoked,  ///< right, with a revoked key
    refused   ///< anything else, see the detail
};

/// Verifies one detached signature (a binary packet) of `content` with the keys in `certificates`
/// (binary packets): with gpg in a sandbox (sandbox/tool.hpp) and a GnuPG home of its own, which is
/// removed; no agent is started, no network used. `detail` receives GnuPG's words for `refused`.
/// Threads wait for one another. Throws Error where GnuPG is not there or cannot work.
[[nodiscard]] GnupgAnswer ask_gnupg(std::string_view content, std::string_view signature,
                                    const std::string& certificates, std::string& detail);

}  // namespace edgegpu
