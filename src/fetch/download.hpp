#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Downloads packages of one repository with librepo (parallel, resumed where a partial file
/// is left, each of its mirrors tried) to their `path`. Digests are checked on arrival.
/// Throws ErrorKind::fetch naming the package and the URL; with ctx.offline naming what is missing.
void download_packages(const Context& ctx, const Repository& repository,
                       const std::vector<PackageFile>& wanted);

}  // namespace edgegpu
