#pragma once

#include <string_view>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Verifies `signature` (content of repodata/repomd.xml.asc, empty if there is none) of `repomd`
/// (content of repodata/repomd.xml) with the repository's gpgkey. If it was made with another key,
/// that is looked up among the keys of the blueprint's other repositories. Throws ErrorKind::fetch
/// with the message of `signature_error`, which does not include where the repository is defined.
void check_repomd_signature(const Context& ctx, const std::vector<Repository>& repositories,
                            const Repository& repository, std::string_view repomd,
                            std::string_view signature);

}  // namespace edgegpu
