#pragma once

#include <filesystem>

#include "disk/injection.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What a TOML file (docs/images.md) says of one machine, as files of its /etc and /var: host name,
/// SSH keys, a static address, the token of a virtual GPU's licence, files. Users, their homes, and
/// what configures network and licence are those of `commit`. Files that it names are relative to
/// it. Throws ErrorKind::usage with line and column, for all mistakes at once; Error for a file
/// that cannot be read.
[[nodiscard]] Injection read_injection_file(const std::filesystem::path& file,
                                            const CommitView& commit);

}  // namespace edgegpu
