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

/// The text; empty if it is no text.
[[nodiscard]] std::string text_in(const nlohmann::json& object,
                                  std::initializer_list<std::string_view> path);

/// The items; none if it is no list.
[[nodiscard]] const std::vector<nlohmann::json>& items_at(
    const nlohmann::json& object, std::initializer_list<std::string_view> path);

/// The items that are text, in their order.
[[nodiscard]] std::vector<std::string> texts_at(const nlohmann::json& object,
                                                std::initializer_list<std::string_view> path);

/// A container of a pod as JSON.
struct ContainerOfPod {
    /// JSON pointer (RFC 6901) from the pod: "/spec/containers/0"
    std::string pointer;
    std::string name;
    const nlohmann::json* content = nullptr;
};

/// The containers of `pod`, an object with `spec`: init containers first, ephemeral ones last. They
/// refer to it.
[[nodiscard]] std::vector<ContainerOfPod> containers_of_pod(const nlohmann::json& pod);

/// The keys of the sources that a volume has; one, unless something is wrong.
[[nodiscard]] std::vector<std::string> sources_of_volume(const nlohmann::json& volume);

}  // namespace edgegpu
