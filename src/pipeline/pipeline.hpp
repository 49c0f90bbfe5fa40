#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "blueprint/blueprint.hpp"
#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Options of `edgegpu build`.
struct BuildOptions {
    /// ostree repository to commit to; created if it does not exist.
    std::filesystem::path repo;
    /// Written after resolving, read with `locked`; empty: none.
    std::filesystem::path lockfile;
    /// Use exactly the packages of the lockfile, or fail.
    bool locked = false;
    /// If resolving fails, the error contains the solver's proof.
    bool explain = false;
    /// The build fails if a device with the parent commit would download more bytes of objects.
    std::optional<std::uint64_t> max_upgrade_bytes;
};

/// The result of a build.
struct BuildResult {
    Resolution resolution;
    Commit commit;
};

/// Runs all stages of a build in order. `signer` must already know what it may sign.
[[nodiscard]] BuildResult build_image(const Context& ctx, const Blueprint& blueprint,
                                      const BuildOptions& options, Signer& signer);

}  // namespace edgegpu
