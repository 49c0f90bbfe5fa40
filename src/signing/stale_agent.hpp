#pragma once

#include <filesystem>
#include <string>

namespace edgegpu {

/// gpg-agent is found by the path of its home, at a socket that may be elsewhere
/// (/run/user/UID/gnupg). If it was started for another directory of the same path, in another
/// mount namespace or before the home was made anew, it knows nothing of the keys in this one.
/// Returns true if that is so for the secret key of `key` in `homedir` (empty: the user's GPG
/// home), whose file is there, and ends that agent, so that the next use of GnuPG starts another.
[[nodiscard]] bool end_stale_agent(const std::string& key, const std::filesystem::path& homedir);

}  // namespace edgegpu
