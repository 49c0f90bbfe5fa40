#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Downloads packages of one repository (parallel, resumed where a partial file is left, each of
/// its mirrors tried) to their `path`. Sizes and digests are checked on arrival. `repomd_sha256` is
/// the state of the repository that they were chosen from, to tell a repository that changed since
/// from a bad mirror. `arrived` is called with the index of each package that came. Throws
/// ErrorKind::fetch naming the package and the URL; with ctx.offline naming what is missing.
void download_packages(const Context& ctx, const Repository& repository, const PackageFiles& wanted,
                       const std::string& repomd_sha256,
                       const std::function<void(std::size_t)>& arrived);

}  // namespace edgegpu
