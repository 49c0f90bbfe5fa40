#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"

namespace edgegpu {

/// Downloads packages of one repository to their `path`: in parallel, from any of its mirrors,
/// continuing partial files. Sizes and checksums are verified on arrival. `repomd_sha256`
/// identifies the metadata that the packages were resolved from; it distinguishes a repository that
/// has changed since from a bad mirror. `arrived` is called with the index of each downloaded
/// package. Throws ErrorKind::fetch naming package and URLs, or with ctx.offline the first missing
/// package.
void download_packages(const Context& ctx, const Repository& repository, const PackageFiles& wanted,
                       const std::string& repomd_sha256,
                       const std::function<void(std::size_t)>& arrived);

}  // namespace edgegpu
