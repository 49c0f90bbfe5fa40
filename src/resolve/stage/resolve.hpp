#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"
#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// Options of resolving.
struct ResolveOptions {
    /// Errors contain the solver's proof.
    bool proof = false;
    /// With `[parent]`: its packages.
    const InstalledPackages* installed = nullptr;
};

/// Downloads repository metadata (or reads them from the cache) and solves the blueprint. Throws
/// ErrorKind::unsolvable with the cause and verified changes of the blueprint, ErrorKind::fetch for
/// metadata that are not available or fail verification. Container images are looked up afterwards
/// (resolve_images), since packages may name some.
[[nodiscard]] Resolution resolve(const Context& ctx, const Blueprint& blueprint,
                                 const ResolveOptions& options = {});

/// Whether a pattern of --update (a name, or a glob) is the parent of a lockfile, by the name that
/// the blueprint gave it.
[[nodiscard]] bool names_parent(const Resolution& locked, const std::string& pattern);

/// Resolves again, but updates only the locked packages that match `patterns` (name, NEVRA form,
/// globs), and those built from the same source, of the same module, or of the same driver; others
/// keep their locked NEVRA where that is possible, and each that does not is a warning. Packages
/// that the blueprint did not request before are added in their newest version. Throws as `resolve`
/// does, and ErrorKind::usage for a pattern that matches no package, image or parent, locked or
/// new.
[[nodiscard]] Resolution resolve_update(const Context& ctx, const Blueprint& blueprint,
                                        const Resolution& locked,
                                        const std::vector<std::string>& patterns,
                                        const ResolveOptions& options = {});

/// Verifies a lockfile instead of resolving: every locked package must still be in its repository,
/// with the same checksum and size, and together they must satisfy the blueprint. Other packages in
/// the repositories do not matter. Returns the locked resolution, with images as they are locked
/// (require_locked_images verifies these). Throws ErrorKind::unsolvable
/// listing all differences, ErrorKind::fetch as `resolve` does.
[[nodiscard]] Resolution resolve_locked(const Context& ctx, const Blueprint& blueprint,
                                        const Resolution& locked,
                                        const ResolveOptions& options = {});

}  // namespace edgegpu
