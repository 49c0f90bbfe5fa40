#pragma once

#include <string_view>

#include "bundles/pods.hpp"

namespace edgegpu {

/// A pod's labels, or those of any object, none if there are none.
[[nodiscard]] const nlohmann::json::object_t& labels_of(const PodTemplate& pod);

/// Whether labels have each key of a mapping, with the same value.
[[nodiscard]] bool have_labels(const nlohmann::json::object_t& labels,
                               const nlohmann::json& wanted);

/// Whether labels satisfy a LabelSelector (`matchLabels`, `matchExpressions`); an operator that
/// Kubernetes does not know is satisfied.
[[nodiscard]] bool satisfy_selector(const nlohmann::json::object_t& labels,
                                    const nlohmann::json& selector);

/// Whether controllers put the label on every pod of a workload: no template has it.
[[nodiscard]] bool is_label_of_controllers(std::string_view key);

}  // namespace edgegpu
