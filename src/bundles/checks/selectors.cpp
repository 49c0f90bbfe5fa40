#include "bundles/checks/selectors.hpp"

#include <algorithm>
#include <array>

#include "bundles/json_value.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

bool satisfies_expression(const json::object_t& labels, const json& expression) {
    const auto label = labels.find(text_in(expression, {"key"}));
    const bool there = label != labels.end();
    const std::string wanted = text_in(expression, {"operator"});
    const bool listed =
        there && std::ranges::any_of(items_at(expression, {"values"}), [&](const json& each) {
            return text_of(each) == text_of(label->second);
        });
    if (wanted == "In") {
        return listed;
    }
    if (wanted == "NotIn") {
        return !listed;
    }
    if (wanted == "Exists") {
        return there;
    }
    return wanted != "DoesNotExist" || !there;
}

}  // namespace

const json::object_t& labels_of(const PodTemplate& pod) {
    return entries_at(*pod.metadata, {"labels"});
}

bool have_labels(const json::object_t& labels, const json& wanted) {
    return std::ranges::all_of(entries_at(wanted, {}), [&](const auto& each) {
        const auto label = labels.find(each.first);
        return label != labels.end() && text_of(label->second) == text_of(each.second);
    });
}

bool satisfy_selector(const json::object_t& labels, const json& selector) {
    return have_labels(labels, value_at(selector, {"matchLabels"})) &&
           std::ranges::all_of(items_at(selector, {"matchExpressions"}), [&](const json& each) {
               return satisfies_expression(labels, each);
           });
}

bool is_label_of_controllers(std::string_view key) {
    static constexpr std::array<std::string_view, 6> names{
        "controller-revision-hash", "controller-uid",    "job-name",
        "pod-template-generation",  "pod-template-hash", "statefulset.kubernetes.io/pod-name"};
    return key.starts_with("batch.kubernetes.io/") || key.starts_with("apps.kubernetes.io/") ||
           std::ranges::find(names, key) != names.end();
}

}  // namespace edgegpu
