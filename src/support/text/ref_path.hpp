#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// How to name a ref that somebody has named by its place in a repository: "refs/heads/edge/stable"
/// is edge/stable. Empty for all other names.
///
/// libostree takes such a name for that of a ref, refs/heads/refs/heads/edge/stable, which no
/// device follows.
[[nodiscard]] std::string hint_for_ref_path(std::string_view ref);

}  // namespace edgegpu
