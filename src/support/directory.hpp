#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace edgegpu {

/// The names in an open directory, sorted, without "." and ".."; nothing, and errno says why, where
/// it cannot be read to its end.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(Fd directory);

/// What lies in a directory of the builder, sorted by path; as far as it can be read, and nothing
/// where there is no such directory. Its types are known without looking at each.
[[nodiscard]] std::vector<std::filesystem::directory_entry> children_of(
    const std::filesystem::path& directory);

}  // namespace edgegpu
