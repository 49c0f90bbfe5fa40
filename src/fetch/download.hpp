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

/// The text of a small file at a URL (file://, http, https) or an absolute path, at most 1 MiB,
/// such as a public key. Downloads are kept in the cache (`keys/`) for --offline.
[[nodiscard]] std::string download_text(const Context& ctx, const Repository& repository,
                                        const std::string& url);

}  // namespace edgegpu
