#include "bundles/roles.hpp"

#include <algorithm>

namespace edgegpu {

namespace {

const std::vector<YamlNode>& list_in(const YamlNode& node, std::string_view key) {
    static const std::vector<YamlNode> none;
    const YamlNode* list = node.find(key);
    return list != nullptr ? list->items : none;
}

std::vector<std::string> texts_in(const YamlNode& rule, std::string_view key) {
    std::vector<std::string> texts;
    for (const YamlNode& item : list_in(rule, key)) {
        if (item.kind == YamlNode::Kind::scalar) {
            texts.push_back(item.text);
        }
    }
    return texts;
}

bool lists(const std::vector<std::string>& texts, std::string_view wanted) {
    return std::ranges::any_of(
        texts, [&](const std::string& text) { return text == "*" || text == wanted; });
}

}  // namespace

bool RoleRule::covers(std::string_view group, std::string_view resource,
                      const std::vector<std::string_view>& wanted_verbs) const {
    const std::size_t slash = resource.find('/');
    // "nodes/status" is also in "*/status".
    const bool subresource = slash != std::string_view::npos &&
                             lists(resources, '*' + std::string(resource.substr(slash)));
    return lists(groups, group) && (lists(resources, resource) || subresource) &&
           std::ranges::any_of(wanted_verbs,
                               [&](std::string_view verb) { return lists(verbs, verb); });
}

void AccessObjects::add(const KubeObject& object) {
    if (!object.api_version.starts_with("rbac.authorization.k8s.io/")) {
        return;
    }
    const YamlNode& content = object.content;
    const bool everywhere = object.kind.starts_with("Cluster");
    const std::string home = everywhere                  ? ""
                             : object.name_space.empty() ? "default"
                                                         : object.name_space;
    if (object.kind == "Role" || object.kind == "ClusterRole") {
        AccessRole role{
            object.kind, home, object.name, content.find("aggregationRule") != nullptr, {}};
        for (const YamlNode& rule : list_in(content, "rules")) {
            role.rules.push_back({texts_in(rule, "apiGroups"), texts_in(rule, "resources"),
                                  texts_in(rule, "verbs"), texts_in(rule, "resourceNames")});
        }
        roles.push_back(std::move(role));
    } else if (object.kind == "RoleBinding" || object.kind == "ClusterRoleBinding") {
        AccessBinding binding{everywhere,
                              home,
                              content.text_at({"roleRef", "kind"}),
                              content.text_at({"roleRef", "name"}),
                              {}};
        for (const YamlNode& subject : list_in(content, "subjects")) {
            binding.subjects.push_back({subject.text_at({"kind"}), subject.text_at({"name"}),
                                        subject.text_at({"namespace"})});
        }
        bindings.push_back(std::move(binding));
    }
}

const AccessRole* AccessObjects::role_of(const AccessBinding& binding) const {
    const auto found = std::ranges::find_if(roles, [&](const AccessRole& role) {
        return role.kind == binding.role_kind && role.name == binding.role_name &&
               (role.kind == "ClusterRole" || role.name_space == binding.name_space);
    });
    return found == roles.end() ? nullptr : &*found;
}

}  // namespace edgegpu
