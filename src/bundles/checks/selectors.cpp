#include "bundles/checks/selectors.hpp"

#include <algorithm>
#include <array>

#include "bundles/checks/known_objects.hpp"

namespace edgegpu {

namespace {

bool satisfies_expression(const YamlNode* labels, const YamlNode& expression) {
    const YamlNode* value = labels != nullptr ? labels->find(expression.text_at({"key"})) : nullptr;
    const std::string wanted = expression.text_at({"operator"});
    const std::vector<YamlNode>& values = items_of(expression.find("values"));
    const bool listed = value != nullptr && std::ranges::any_of(values, [&](const YamlNode& each) {
                            return each.text == value->text;
                        });
    if (wanted == "In") {
        return listed;
    }
    if (wanted == "NotIn") {
        return !listed;
    }
    if (wanted == "Exists") {
        return value != nullptr;
    }
    return wanted != "DoesNotExist" || value == nullptr;
}

}  // namespace

const YamlNode* labels_of(const PodTemplate& pod) {
    return pod.metadata != nullptr ? pod.metadata->find("labels") : nullptr;
}

bool have_labels(const YamlNode* labels, const YamlNode& wanted) {
    for (std::size_t i = 0; i < wanted.keys.size(); ++i) {
        const YamlNode* value = labels != nullptr ? labels->find(wanted.keys[i]) : nullptr;
        if (value == nullptr || value->text != wanted.items[i].text) {
            return false;
        }
    }
    return true;
}

bool satisfy_selector(const YamlNode* labels, const YamlNode& selector) {
    const YamlNode* equal = selector.find("matchLabels");
    const std::vector<YamlNode>& expressions = items_of(selector.find("matchExpressions"));
    return (equal == nullptr || have_labels(labels, *equal)) &&
           std::ranges::all_of(expressions, [&](const YamlNode& each) {
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
