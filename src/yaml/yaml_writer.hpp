#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "yaml/yaml.hpp"

namespace edgegpu {

/// A string, whatever it looks like: written in quotes.
[[nodiscard]] YamlNode yaml_string(std::string_view text);
/// A number, a truth value or another scalar that is written as it is.
[[nodiscard]] YamlNode yaml_plain(std::string_view text);
[[nodiscard]] YamlNode yaml_list(std::vector<YamlNode> items = {});
[[nodiscard]] YamlNode yaml_map(const std::vector<std::pair<std::string, YamlNode>>& entries = {});

/// Adds a key to a mapping.
void add_key(YamlNode& mapping, std::string key, YamlNode value);

/// A JSON value: strings in quotes, keys in its order. Throws Error for a number that is not
/// finite.
[[nodiscard]] YamlNode yaml_of(const nlohmann::json& value);

/// The document as text (libyaml), in blocks, no line folded; keys that any version of YAML could
/// take for something else than a string ("no", "1.5") are in quotes. The same value
/// gives the same text, which ends with a newline; read_yaml gives the value again. Throws Error
/// for scalars that are not UTF-8.
[[nodiscard]] std::string write_yaml(const YamlNode& document);

}  // namespace edgegpu
