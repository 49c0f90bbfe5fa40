#pragma once

#include <string_view>

#include "blueprint/blueprint.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Checks `signature`, the content of repodata/repomd.xml.asc (empty where there is none), of
/// `repomd`, the content of repodata/repomd.xml, with the repository's gpgkey. Where another key
/// was used, the blueprint's other repositories are asked whose it is. Throws ErrorKind::fetch, one
/// message for each way in which a signature can be wrong (signature_error), without saying where
/// the repository is defined.
void check_repomd_signature(const Context& ctx, const std::vector<Repository>& repositories,
                            const Repository& repository, std::string_view repomd,
                            std::string_view signature);

}  // namespace edgegpu
