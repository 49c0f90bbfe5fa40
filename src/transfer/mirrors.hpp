#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "support/checksum.hpp"
#include "support/context.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// One state of repomd.xml that a metalink vouches for.
struct RepomdPromise {
    /// The strongest that is given and that edgegpu takes.
    Checksum checksum;
    /// 0: not said.
    std::uint64_t size = 0;
};

/// Who has a repository's files.
struct MirrorList {
    /// In the order in which they are tried.
    std::vector<std::string> mirrors;
    /// What repomd.xml may be, newest first: a metalink's own hashes, then those of its
    /// mm0:alternates. Empty: nobody says.
    std::vector<RepomdPromise> promises;
};

/// The mirrors of a repository: its baseurls, then those of its metalink or mirrorlist, which are
/// asked for now. A list that cannot be had is warned of where there are baseurls. Throws
/// ErrorKind::fetch naming repository and URL.
[[nodiscard]] MirrorList find_mirrors(const Context& ctx, const Repository& repository);

/// The mirrors of a mirrorlist: one URL a line, blank lines and comments ("#") left out; only http
/// and https, and files where `files` says so.
[[nodiscard]] std::vector<std::string> read_mirrorlist(std::string_view text, bool files);

/// Mirrors and promises of a metalink (version 3 with the extensions of MirrorManager,
/// https://fedoraproject.org/wiki/Infrastructure/MirrorManager) for repomd.xml, the preferred
/// first. Throws Error saying what is wrong with it.
[[nodiscard]] MirrorList read_metalink(const Repository& repository, const std::string& text);

}  // namespace edgegpu
