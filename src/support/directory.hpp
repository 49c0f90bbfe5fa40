#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace edgegpu {

/// The names in an open directory, sorted, without "." and ".."; nothing, with the reason in errno,
/// if it cannot be read completely.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(Fd directory);

/// The entries of a directory of the build machine, sorted by path, as far as it can be read; empty
/// if there is no such directory. Their types are cached in them.
[[nodiscard]] std::vector<std::filesystem::directory_entry> children_of(
    const std::filesystem::path& directory);

}  // namespace edgegpu
