#include "bundles/checks/grants.hpp"

#include <algorithm>

#include "schema/kind_problem.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

bool is_rbac(const KubeObject& object, std::string_view kind) {
    return object.kind == kind && group_of(object.api_version) == rbac_group;
}

/// Whether a list of a rule has an entry, or "*". Without the list: no.
bool rule_lists(const YamlNode& rule, std::string_view key, std::string_view entry) {
    const YamlNode* list = rule.find(key);
    return list != nullptr &&
           std::any_of(list->items.begin(), list->items.end(), [&](const YamlNode& each) {
               return each.text == entry || each.text == "*";
           });
}

bool rule_allows(const YamlNode* rule, const std::vector<std::string_view>& verbs,
                 std::string_view group, std::string_view resource, std::string_view name) {
    if (rule == nullptr) {
        return true;
    }
    const YamlNode* names = rule->find("resourceNames");
    const bool named =
        names == nullptr || names->items.empty() || rule_lists(*rule, "resourceNames", name);
    return named && rule_lists(*rule, "apiGroups", group) &&
           rule_lists(*rule, "resources", resource) &&
           std::any_of(verbs.begin(), verbs.end(),
                       [&](std::string_view verb) { return rule_lists(*rule, "verbs", verb); });
}

/// The role that a binding names.
const KubeObject* bound_role(const KubeObject& binding, const std::string& name_space,
                             const std::vector<BundleObject>& objects,
                             const std::map<const KubeObject*, std::string>& namespaces) {
    const std::string kind = binding.content.text_at({"roleRef", "kind"});
    const std::string name = binding.content.text_at({"roleRef", "name"});
    const auto found = std::find_if(objects.begin(), objects.end(), [&](const BundleObject& each) {
        return is_rbac(*each.object, kind) && each.object->name == name &&
               (kind != "Role" || namespaces.at(each.object) == name_space);
    });
    return found == objects.end() ? nullptr : found->object;
}

/// The rules of a role; a null one for roles that grant nearly everything, and for those whose
/// rules other roles make up.
std::vector<const YamlNode*> rules_of(const KubeObject* role, std::string_view name) {
    std::vector<const YamlNode*> rules;
    if (role == nullptr) {
        if (name == "cluster-admin" || name == "admin" || name == "edit") {
            rules.push_back(nullptr);
        }
        return rules;
    }
    if (role->content.find("aggregationRule") != nullptr) {
        rules.push_back(nullptr);
    }
    if (const YamlNode* list = role->content.find("rules"); list != nullptr) {
        for (const YamlNode& rule : list->items) {
            rules.push_back(&rule);
        }
    }
    return rules;
}

}  // namespace

Grants::Grants(const std::vector<BundleObject>& objects,
               const std::map<const KubeObject*, std::string>& namespaces) {
    for (const BundleObject& each : objects) {
        const KubeObject& binding = *each.object;
        const bool cluster = is_rbac(binding, "ClusterRoleBinding");
        if (!cluster && !is_rbac(binding, "RoleBinding")) {
            continue;
        }
        const std::string& own = namespaces.at(each.object);
        const auto rules = rules_of(bound_role(binding, own, objects, namespaces),
                                    binding.content.text_at({"roleRef", "name"}));
        const auto add = [&](const std::string& name_space) {
            std::vector<const YamlNode*>& all = rules_[name_space];
            all.insert(all.end(), rules.begin(), rules.end());
        };
        add(cluster ? "" : own);
        const YamlNode* subjects = binding.content.find("subjects");
        for (const YamlNode& subject :
             subjects != nullptr && cluster ? subjects->items : std::vector<YamlNode>{}) {
            if (const std::string home = subject.text_at({"namespace"}); !home.empty()) {
                add(home);
            }
        }
    }
}

bool Grants::allow(const std::vector<std::string_view>& verbs, std::string_view group,
                   std::string_view resource, const std::string& name_space,
                   std::string_view name) const {
    const auto found = rules_.find(name_space);
    return found != rules_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const YamlNode* rule) {
               return rule_allows(rule, verbs, group, resource, name);
           });
}

}  // namespace edgegpu
