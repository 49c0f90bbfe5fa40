#pragma once

#include <optional>

#include "blueprint/blueprint.hpp"
#include "signing/request.hpp"

namespace edgegpu {

/// What the signing process may sign for an image: `[ostree]` and `[nvidia.secure_boot]`.
[[nodiscard]] SigningRequest signing_request(const OstreeRequest& ostree,
                                             const std::optional<NvidiaRequest>& nvidia);

}  // namespace edgegpu
