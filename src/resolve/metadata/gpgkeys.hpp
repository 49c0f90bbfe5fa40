#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The text of one public key of the repository, at most 1 MiB. `url` is an absolute path or a
/// file, http or https URL. Downloads are stored in the cache (`keys/`) and read from there with
/// ctx.offline. Throws ErrorKind::fetch naming repository and key.
[[nodiscard]] std::string read_key(const Context& ctx, const Repository& repository,
                                   const std::string& url);

/// All public keys of the repository, concatenated. Throws as read_key does.
[[nodiscard]] std::string key_material(const Context& ctx, const Repository& repository);

/// Whether all keys of a repository are files of this machine.
[[nodiscard]] bool has_local_keys(const Repository& repository);

}  // namespace edgegpu
