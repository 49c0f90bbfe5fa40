#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "delta/static_delta.hpp"
#include "execution/context.hpp"
#include "publish/fleet_versions.hpp"
#include "repository/commit_view.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// A static delta to a published commit.
struct PublishedDelta {
    /// checksum of the commit that devices have; empty for a delta from nothing
    std::string from;
    StaticDelta delta;
    /// The superblock that `write_renewed` has to write, where the summary names another one: with
    /// the signatures that the commit has now, or of a delta that was made anew. Else null.
    VariantHandle renewed;
    /// It was made now.
    bool made = false;
    /// It saves too little, or clients could not read it, and is not in the repository.
    bool useless = false;
};

/// Which deltas are made.
struct DeltaRequest {
    /// names of commits of the target (refs, checksums), or how many of the versions of its ref
    /// that it has, from the newest back: 1 is the one that the ref has, and the others are older
    std::vector<std::string> from;
    /// of these, the versions of the ref
    std::optional<FleetVersions> fleet;
    /// see DeltaOptions
    std::uint64_t largest_compared = DeltaOptions().largest_compared;
};

/// The commits of the target that deltas to `commit` are made from. None is `commit` itself, and
/// none comes twice. Warns of many devices whose commit the target does not have, and notes if it
/// has fewer versions than are asked for. Throws ErrorKind::usage for a name that is unknown.
[[nodiscard]] std::vector<CommitView> delta_sources(const Context& ctx, const Repo& target,
                                                    const DeltaRequest& request,
                                                    const std::string& commit);

/// A ref, and the checksum of the commit that a repository has for it, or empty.
struct HeldRef {
    std::string name;
    std::string head;
};
/// The same for a ref of a repository that is only read.
[[nodiscard]] std::vector<CommitView> delta_sources(const Context& ctx, const RepositoryView& view,
                                                    const HeldRef& ref, const DeltaRequest& request,
                                                    const std::string& commit);

/// Throws ErrorKind::usage for a name in `wanted` that `delta_sources` would not know.
void require_delta_sources(const RepositoryView& target, const std::vector<std::string>& wanted);

/// Makes those deltas from `sources` to `commit`, which is in the target with its signatures, that
/// the target lacks, each complete before it has its name. One that saves less than a twentieth is
/// removed again. Others to that commit that are damaged are removed, with a warning: clients would
/// fail, where they find objects without one. Leaves the summary's marker for whatever it changes.
/// Throws Error.
[[nodiscard]] std::vector<PublishedDelta> publish_deltas(const Context& ctx, const Repo& target,
                                                         const std::string& commit,
                                                         const std::vector<CommitView>& sources,
                                                         std::uint64_t largest_compared);

/// Removes a delta, of which `path` is the directory ("deltas/XX/YYYY"). Superblock first: clients
/// do without a delta that has none, but not without its parts. Throws Error.
void remove_delta(const Repo::Impl& target, const std::string& path);

/// Takes the deltas that have old signatures of `commit` away: without the superblock, which the
/// summary names with its digest, clients get objects. `write_renewed` gives them back, when the
/// summary has been made without them. Returns whether there was one.
bool withdraw_outdated(const Repo& target, const std::string& commit,
                       const std::vector<PublishedDelta>& deltas);

/// Writes their new superblocks. Clients take what a new summary names.
void write_renewed(const Repo& target, const std::string& commit,
                   const std::vector<PublishedDelta>& deltas);

}  // namespace edgegpu
