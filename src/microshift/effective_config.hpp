#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// Files of an image that MicroShift reads its configuration from: path → content.
using ConfigFiles = std::map<std::string, std::string>;

/// What MicroShift makes of its files.
struct EffectiveConfig {
    /// An object; empty: all values are MicroShift's defaults.
    nlohmann::json values = nlohmann::json::object();
    /// Files that are not YAML, or no mapping: MicroShift does not start with them. One line each,
    /// "FILE:LINE:COLUMN: …".
    std::vector<std::string> unreadable;
};

/// Merges /etc/microshift/config.yaml and then the files of /etc/microshift/config.d in the order
/// of their names, as MicroShift does: by RFC 7396, so that lists replace lists and null removes.
[[nodiscard]] EffectiveConfig effective_config(const ConfigFiles& files);

/// Whether MicroShift reads its configuration from the path: the files above, which end in ".yaml".
[[nodiscard]] bool is_config_file(std::string_view path);

}  // namespace edgegpu
