#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// What is below `path`; null if there is nothing, also where something else than an object is on
/// the way. Objects are read as they are: their schema is checked elsewhere.
[[nodiscard]] const nlohmann::json& value_at(const nlohmann::json& object,
                                             std::initializer_list<std::string_view> path);

/// Whether it is the boolean true.
[[nodiscard]] bool is_true_at(const nlohmann::json& object,
                              std::initializer_list<std::string_view> path);

/// A scalar as text: that of a string, number or boolean; empty for anything else.
[[nodiscard]] std::string text_of(const nlohmann::json& value);

/// The same of what is below `path`.
[[nodiscard]] std::string text_in(const nlohmann::json& object,
                                  std::initializer_list<std::string_view> path);

/// The keys with their values, sorted; none if it is no object.
[[nodiscard]] const nlohmann::json::object_t& entries_at(
    const nlohmann::json& object, std::initializer_list<std::string_view> path);

/// The items; none if it is no list.
[[nodiscard]] const std::vector<nlohmann::json>& items_at(
    const nlohmann::json& object, std::initializer_list<std::string_view> path);

/// The items that are text, in their order.
[[nodiscard]] std::vector<std::string> texts_at(const nlohmann::json& object,
                                                std::initializer_list<std::string_view> path);

}  // namespace edgegpu
