#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The text of one public key of the repository, at most 1 MiB: `url` is an absolute path, or
/// file://, http:// or https://. Downloads are kept in the cache (`keys/`), where ctx.offline finds
/// them. Throws ErrorKind::fetch naming repository and key.
[[nodiscard]] std::string read_key(const Context& ctx, const Repository& repository,
                                   const std::string& url);

/// All public keys of the repository, joined; errors as read_key has them.
[[nodiscard]] std::string key_material(const Context& ctx, const Repository& repository);

}  // namespace edgegpu
