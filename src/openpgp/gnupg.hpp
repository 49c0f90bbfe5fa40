#pragma once

#include <string>
#include <string_view>

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
/// (binary packets), with gpg in a sandbox (sandbox/tool.hpp) and a temporary GnuPG home, without
/// agent and network. `detail` is set to GnuPG's reason for `refused`. Thread-safe, but serialised.
/// Throws Error if GnuPG is not installed or does not work.
[[nodiscard]] GnupgAnswer ask_gnupg(std::string_view content, std::string_view signature,
                                    const std::string& certificates, std::string& detail);

}  // namespace edgegpu
