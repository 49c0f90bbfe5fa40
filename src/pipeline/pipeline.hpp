#pragma once

#include <filesystem>
#include <optional>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The switches of `edgegpu build`.
struct BuildOptions {
    /// ostree repository to commit to; made where it does not exist.
    std::filesystem::path repo;
    /// Lockfile: written after a resolve, read with `locked`.
    std::filesystem::path lockfile;
    /// Use exactly the lockfile's packages, or fail.
    bool locked = false;
    /// A failing resolve carries the solver's proof.
    bool explain = false;
};

/// What a build made.
struct BuildResult {
    Resolution resolution;
    Commit commit;
    /// The inputs are those of the parent commit: nothing was committed, `commit` describes the
    /// parent.
    bool unchanged = false;
};

/// The whole job: every stage in order, one value in, one value out. `signer` was told what it may
/// sign.
[[nodiscard]] BuildResult build_image(const Context& ctx, const Blueprint& blueprint,
                                      const BuildOptions& options, Signer& signer);

}  // namespace edgegpu
