#include "bundles/roles.hpp"

#include <algorithm>

#include "bundles/json_value.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

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
    const json& content = object.content;
    const bool everywhere = object.kind.starts_with("Cluster");
    const std::string home = everywhere                  ? ""
                             : object.name_space.empty() ? "default"
                                                         : object.name_space;
    if (object.kind == "Role" || object.kind == "ClusterRole") {
        AccessRole role{
            object.kind, home, object.name, !value_at(content, {"aggregationRule"}).is_null(), {}};
        for (const json& rule : items_at(content, {"rules"})) {
            role.rules.push_back({texts_at(rule, {"apiGroups"}), texts_at(rule, {"resources"}),
                                  texts_at(rule, {"verbs"}), texts_at(rule, {"resourceNames"})});
        }
        roles.push_back(std::move(role));
    } else if (object.kind == "RoleBinding" || object.kind == "ClusterRoleBinding") {
        AccessBinding binding{everywhere,
                              home,
                              text_in(content, {"roleRef", "kind"}),
                              text_in(content, {"roleRef", "name"}),
                              {}};
        for (const json& subject : items_at(content, {"subjects"})) {
            binding.subjects.push_back({text_in(subject, {"kind"}), text_in(subject, {"name"}),
                                        text_in(subject, {"namespace"})});
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
