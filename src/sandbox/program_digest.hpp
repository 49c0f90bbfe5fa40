#pragma once

#include <filesystem>
#include <string>

#include "execution/context.hpp"

namespace edgegpu {

/// Digest of a program's file and of the shared libraries that its dynamic loader finds for it, for
/// cache keys. It is remembered for this process as long as these files are not changed. `file` is
/// a program of the builder, which is trusted; empty if it is. Throws Error if the loader fails.
[[nodiscard]] std::string program_digest(const Context& ctx, const std::filesystem::path& file);

}  // namespace edgegpu
