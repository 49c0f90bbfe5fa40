#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "support/files/checksum.hpp"
#include "transfer/repository.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// A version of repomd.xml that a metalink lists.
struct RepomdPromise {
    /// The strongest one that is listed and acceptable.
    Checksum checksum;
    /// Bytes; 0: unknown.
    std::uint64_t size = 0;
};

/// Where a repository's files can be downloaded.
struct MirrorList {
    /// URLs, in the order in which they are tried.
    std::vector<std::string> mirrors;
    /// The acceptable versions of repomd.xml, newest first: those of the metalink's own hashes,
    /// then of its mm0:alternates. Empty: any.
    std::vector<RepomdPromise> promises;
};

/// The mirrors of a repository: its baseurls, then those of its metalink or mirrorlist, which is
/// downloaded now. If that fails and there are baseurls, warns; else throws ErrorKind::fetch naming
/// repository and URL.
[[nodiscard]] MirrorList find_mirrors(const Context& ctx, const Repository& repository);

/// The mirrors of a mirrorlist: one URL per line, without blank lines and comments ("#"). Only http
/// and https, and with `files` also local files.
[[nodiscard]] std::vector<std::string> read_mirrorlist(std::string_view text, bool files);

/// Reads a metalink for repomd.xml (version 3 with the extensions of MirrorManager,
/// https://fedoraproject.org/wiki/Infrastructure/MirrorManager). Mirrors are sorted by preference.
/// Throws Error whose message continues the name of the list: "cannot be read: …".
[[nodiscard]] MirrorList read_metalink(const Repository& repository, const std::string& text);

}  // namespace edgegpu
