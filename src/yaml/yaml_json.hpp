#pragma once

#include <nlohmann/json.hpp>

#include "yaml/yaml.hpp"

namespace edgegpu {

/// The value as kubectl hands it to the API server: plain scalars have the types that Go's YAML
/// library gives them, which are those of YAML 1.1 ("yes" is true, 0755 is 493); quoted ones are
/// strings. Of equal keys, the last counts.
[[nodiscard]] nlohmann::json json_of(const YamlNode& node);

}  // namespace edgegpu
