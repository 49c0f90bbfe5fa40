#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// What devices without a network get.
struct ExportRequest {
    /// at least one, of the repository
    std::vector<std::string> refs;
    /// what the devices have, of which one is enough for each of them: see delta_sources. Empty:
    /// not known
    std::vector<std::string> since;
    /// the tar archive
    std::filesystem::path output;
    /// Replaces a file that exists.
    bool replace = false;
};

/// A ref that the archive has.
struct ExportedRef {
    std::string ref;
    CommitInfo commit;
    /// checksums of the commits of which devices have to have one; empty: none
    std::vector<std::string> since;
    bool is_signed = false;
};

/// A tar archive for devices without a network.
struct Exported {
    std::vector<ExportedRef> refs;
    /// of the archive
    std::uint64_t bytes = 0;
    std::size_t objects = 0;
    std::string sha256;
};

/// Writes a tar archive of a repository that has refs of `repository` and nothing else: the objects
/// of their commits, but for those that all commits of `since` have, each compared with its
/// checksum; and a signed summary if `signer` signs. The file has its name when it is complete and
/// on the disk. The same commits give the same bytes, but for that signature.
///
/// Throws Error before anything is written for what devices would refuse: a commit that is bound to
/// other refs; one without signature, or that an image of `since` does not verify;
/// a summary without a signature that they verify; and for a file system that has no space for the
/// file. ErrorKind::usage for a file that exists, unless it is to be replaced.
[[nodiscard]] Exported export_refs(const Context& ctx, Stages& stages,
                                   const RepositoryView& repository, const ExportRequest& request,
                                   Signer& signer);

}  // namespace edgegpu
