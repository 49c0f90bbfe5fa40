#include "bundles/privileges/pod_json.hpp"

#include <fmt/format.h>

namespace edgegpu {

using nlohmann::json;

const json& value_at(const json& object, std::initializer_list<std::string_view> path) {
    static const json nothing;
    const json* node = &object;
    for (const std::string_view key : path) {
        if (!node->is_object()) {
            return nothing;
        }
        const auto found = node->find(key);
        if (found == node->end()) {
            return nothing;
        }
        node = &*found;
    }
    return *node;
}

bool is_true_at(const json& object, std::initializer_list<std::string_view> path) {
    const json& value = value_at(object, path);
    return value.is_boolean() && value.get<bool>();
}

std::string text_in(const json& object, std::initializer_list<std::string_view> path) {
    const json& value = value_at(object, path);
    return value.is_string() ? value.get<std::string>() : "";
}

const std::vector<json>& items_at(const json& object,
                                  std::initializer_list<std::string_view> path) {
    static const std::vector<json> none;
    const json& value = value_at(object, path);
    return value.is_array() ? value.get_ref<const json::array_t&>() : none;
}

std::vector<std::string> texts_at(const json& object,
                                  std::initializer_list<std::string_view> path) {
    std::vector<std::string> texts;
    for (const json& item : items_at(object, path)) {
        if (item.is_string()) {
            texts.push_back(item.get<std::string>());
        }
    }
    return texts;
}

std::vector<ContainerOfPod> containers_of_pod(const json& pod) {
    std::vector<ContainerOfPod> containers;
    for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
        std::size_t index = 0;
        for (const json& item : items_at(pod, {"spec", list})) {
            containers.push_back(
                {fmt::format("/spec/{}/{}", list, index++), text_in(item, {"name"}), &item});
        }
    }
    return containers;
}

std::vector<std::string> sources_of_volume(const json& volume) {
    std::vector<std::string> sources;
    if (volume.is_object()) {
        for (const auto& [key, value] : volume.items()) {
            if (key != "name" && !value.is_null()) {
                sources.push_back(key);
            }
        }
    }
    return sources;
}

}  // namespace edgegpu
