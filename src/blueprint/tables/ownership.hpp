#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

/// `mode` of a table: permission bits as an octal string; nothing if the key is absent. Throws
/// ErrorKind::usage for anything else.
[[nodiscard]] std::optional<unsigned> read_mode(const TableReader& table);

/// A user or group by name or number; `fallback` if the key is absent. Throws ErrorKind::usage.
[[nodiscard]] std::string read_owner(const TableReader& table, std::string_view key,
                                     std::string_view fallback);

}  // namespace edgegpu
