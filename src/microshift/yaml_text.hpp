#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// A JSON value as a YAML document (libyaml), in blocks, keys in the value's order. Every string is
/// in double quotes, and so is every key that could be read as anything else but a string by any
/// version of YAML ("no", "1.5", "0x10", "a: b"). No line is folded. The same value gives the same
/// text. Throws Error for a number that is not finite.
[[nodiscard]] std::string yaml_text(const nlohmann::json& value);

}  // namespace edgegpu
