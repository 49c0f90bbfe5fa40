#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"

namespace edgegpu {

/// A node of a YAML document as a plain value: aliases are replaced by copies of what they mean.
struct YamlNode {
    enum class Kind { scalar, sequence, mapping };

    Kind kind = Kind::scalar;
    /// Scalars: the text, without quotes; empty for null.
    std::string text;
    /// Scalars: written in quotes or as a block, and therefore a string whatever it looks like.
    bool quoted = false;
    /// Mappings: the keys, in the order of the file.
    std::vector<std::string> keys;
    /// Sequences: the items. Mappings: the value of each of `keys`.
    std::vector<YamlNode> items;
    /// Where it begins, 1-based.
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    /// The value of a key; null if this is not a mapping or has no such key.
    [[nodiscard]] const YamlNode* find(std::string_view key) const;
    /// The same for a key below keys: find({"metadata", "name"}).
    [[nodiscard]] const YamlNode* find(std::initializer_list<std::string_view> path) const;
    /// The text of a scalar below `path`; empty if there is none.
    [[nodiscard]] std::string text_at(std::initializer_list<std::string_view> path) const;
};

/// The documents of a YAML text (libyaml); those without content are left out. Throws
/// ErrorKind::usage "FILE:LINE:COLUMN: …" for what is not YAML, for keys that are not scalars, and
/// for documents of more than a million nodes, 64 MiB or 100 levels, aliases replaced: they would
/// take gigabytes of memory.
[[nodiscard]] std::vector<YamlNode> read_yaml(const std::string& file, std::string_view text);

}  // namespace edgegpu
