#pragma once

#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/toml_value.hpp"

namespace edgegpu {

/// Puts the tables of a file over those of its base: tables are merged key by key, arrays appended
/// to those of the base, and every other value replaces that of the base. Notes a key that is a
/// table or an array in one of them and something else in the other.
void merge_over(TomlTable& base, TomlTable own, Mistakes& mistakes);

/// Removes what `path` names from the tables of a base: keys with dots between them, as TOML writes
/// them. Below an array, a key stands for the strings that are equal to it, and for the tables
/// whose id, name, path, source, mountpoint or bundle it is. Notes a path that names nothing.
void remove_inherited(TomlValue& base, const LocatedString& path, Mistakes& mistakes);

}  // namespace edgegpu
