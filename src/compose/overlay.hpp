#pragma once

#include <filesystem>
#include <string>

#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// An extended attribute of `path` itself (no link followed), or empty.
[[nodiscard]] std::string read_attribute(const std::filesystem::path& path, const char* name);

/// Copies the upper layer of an overlay with everything it means: owners, modes, whiteouts,
/// opaque directories, capabilities. `target` must not exist.
void copy_layer(const Context& ctx, const std::filesystem::path& source,
                const std::filesystem::path& target);

/// Unmounts whatever an earlier build left at `root`.
void unmount_stale(const std::filesystem::path& root);

}  // namespace edgegpu
