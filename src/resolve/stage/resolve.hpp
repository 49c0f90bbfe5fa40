#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// How to resolve.
struct ResolveOptions {
    /// A failure carries the solver's whole proof.
    bool proof = false;
};

/// Downloads (or reads from the cache) repository metadata, solves the blueprint, returns the
/// packages. Throws ErrorKind::unsolvable with the cause and changes of the blueprint that were
/// tried and help, ErrorKind::fetch for metadata that cannot be had or fails verification.
[[nodiscard]] Resolution resolve(const Context& ctx, const Blueprint& blueprint,
                                 const ResolveOptions& options = {});

/// Resolves anew, but moves only the locked packages that `patterns` name (name, NEVRA form,
/// globs), with those built from the same source or of the same module; the others stay at the
/// locked NEVRA wherever the blueprint allows it. Throws as `resolve` does, and ErrorKind::usage
/// for a pattern that names nothing.
[[nodiscard]] Resolution resolve_update(const Context& ctx, const Blueprint& blueprint,
                                        const Resolution& locked,
                                        const std::vector<std::string>& patterns,
                                        const ResolveOptions& options = {});

/// Confirms a lockfile instead of resolving anew: every locked package is still in the repository
/// that it names, with the same digest and size, and together they still are what the blueprint
/// asks for. What else the repositories hold by now does not matter. Returns the locked packages.
/// Throws ErrorKind::unsolvable that says package by package what drifted, ErrorKind::fetch as
/// `resolve` does.
[[nodiscard]] Resolution resolve_locked(const Context& ctx, const Blueprint& blueprint,
                                        const Resolution& locked);

}  // namespace edgegpu
