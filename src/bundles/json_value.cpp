#include "bundles/json_value.hpp"

#include "support/ranges.hpp"

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

std::string text_of(const json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    return value.is_null() || value.is_structured() ? "" : value.dump();
}

std::string text_in(const json& object, std::initializer_list<std::string_view> path) {
    return text_of(value_at(object, path));
}

const json::object_t& entries_at(const json& object, std::initializer_list<std::string_view> path) {
    static const json::object_t none;
    const json& value = value_at(object, path);
    return value.is_object() ? value.get_ref<const json::object_t&>() : none;
}

const std::vector<json>& items_at(const json& object,
                                  std::initializer_list<std::string_view> path) {
    static const std::vector<json> none;
    const json& value = value_at(object, path);
    return value.is_array() ? value.get_ref<const json::array_t&>() : none;
}

std::vector<std::string> texts_at(const json& object,
                                  std::initializer_list<std::string_view> path) {
    return mapped_if(items_at(object, path), &json::is_string,
                     [](const json& item) { return item.get<std::string>(); });
}

}  // namespace edgegpu
