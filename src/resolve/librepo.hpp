#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <librepo/librepo.h>

#include "blueprint/blueprint.hpp"
#include "support/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

using LrHandlePtr = Handle<LrHandle, lr_handle_free>;
using LrResultPtr = Handle<LrResult, lr_result_free>;
using GErrorPtr = Handle<GError, g_error_free>;

/// A librepo handle with the repository's URLs, certificates and limits. It reports to nobody:
/// callbacks are the caller's. Throws ErrorKind::fetch for an option that librepo refuses.
[[nodiscard]] LrHandlePtr make_handle(const Repository& repository);

/// Runs the handle for the metadata `types` (empty: repomd.xml alone), writing below `destination`.
/// Throws ErrorKind::fetch naming the repository, ErrorKind::interrupted on cancellation.
void perform(const Context& ctx, const Repository& repository, LrHandle* handle, LrResult* result,
             const std::filesystem::path& destination, const std::vector<std::string>& types);

/// Opens metadata that lies in `directory`, without a network; types that are not there are
/// skipped. Throws ErrorKind::fetch naming the repository.
[[nodiscard]] LrResultPtr open_local(const Context& ctx, const Repository& repository,
                                     const std::filesystem::path& directory,
                                     const std::vector<std::string>& types);

/// The text of one public key of the repository, at most 1 MiB: `url` is an absolute path, or
/// file://, http:// or https://. Downloads are kept in the cache (`keys/`), where ctx.offline finds
/// them. Throws ErrorKind::fetch naming repository and key.
[[nodiscard]] std::string read_key(const Context& ctx, const Repository& repository,
                                   const std::string& url);

/// All public keys of the repository, joined; errors as read_key has them.
[[nodiscard]] std::string key_material(const Context& ctx, const Repository& repository);

}  // namespace edgegpu
