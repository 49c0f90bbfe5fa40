#include "microshift/effective_config.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "yaml/yaml.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view main_file = "/etc/microshift/config.yaml";
constexpr std::string_view drop_ins = "/etc/microshift/config.d/";

void merge_file(const std::string& path, const std::string& content, EffectiveConfig& config) {
    try {
        const std::vector<YamlNode> documents = read_yaml(path, content);
        if (documents.empty()) {
            return;
        }
        const json values = json_of(documents.front());
        if (values.is_object()) {
            config.values.merge_patch(values);
        } else {
            config.unreadable.push_back(fmt::format("{}:1:1: it is not a mapping", path));
        }
    } catch (const Error& failure) {
        config.unreadable.push_back(failure.message());
    }
}

}  // namespace

bool is_config_file(std::string_view path) {
    return path == main_file || (path.starts_with(drop_ins) && path.ends_with(".yaml"));
}

EffectiveConfig effective_config(const ConfigFiles& files) {
    EffectiveConfig config;
    if (const auto found = files.find(std::string(main_file)); found != files.end()) {
        merge_file(found->first, found->second, config);
    }
    // filepath.WalkDir goes by the names of each directory: "a/z" before "a-b", as the slash sorts
    // before what names have, save for a few characters that no one uses.
    for (const auto& [path, content] : files) {
        if (path != main_file) {
            merge_file(path, content, config);
        }
    }
    return config;
}

}  // namespace edgegpu
