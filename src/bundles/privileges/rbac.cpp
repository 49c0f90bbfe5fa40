#include "bundles/privileges/rbac.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "bundles/privileges/pod_json.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view scc_group = "security.openshift.io";

std::string namespace_of(const json& object) {
    const std::string name = text_in(object, {"metadata", "namespace"});
    return name.empty() ? "default" : name;
}

bool lists(const json& rule, const char* key, const std::string& wanted) {
    const std::vector<std::string> texts = texts_at(rule, {key});
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text == "*" || text == wanted; });
}

/// "nodes/status" is also in "*/status".
bool lists_resource(const json& rule, const std::string& wanted) {
    const std::size_t slash = wanted.find('/');
    return lists(rule, "resources", wanted) ||
           (slash != std::string::npos && lists(rule, "resources", '*' + wanted.substr(slash)));
}

Allowed allows(const json& role, const ApiRequest& request) {
    Allowed answer = value_at(role, {"aggregationRule"}).is_null() ? Allowed::no : Allowed::unknown;
    for (const json& rule : items_at(role, {"rules"})) {
        if (!lists(rule, "apiGroups", request.group) || !lists_resource(rule, request.resource) ||
            !lists(rule, "verbs", request.verb)) {
            continue;
        }
        const std::vector<std::string> names = texts_at(rule, {"resourceNames"});
        if (names.empty() || std::find(names.begin(), names.end(), request.name) != names.end()) {
            return Allowed::yes;
        }
        if (request.name.empty()) {
            answer = Allowed::unknown;
        }
    }
    return answer;
}

/// A role that no object brings.
Allowed foreign_role_allows(const std::string& name, const ApiRequest& request) {
    constexpr std::string_view of_scc = "system:openshift:scc:";
    const bool use_of_scc =
        request.group == scc_group && request.resource == "securitycontextconstraints";
    if (name == "cluster-admin") {
        return Allowed::yes;
    }
    if (name.starts_with(of_scc)) {
        return use_of_scc && request.verb == "use" && name.substr(of_scc.size()) == request.name
                   ? Allowed::yes
                   : Allowed::no;
    }
    const bool user_facing =
        name == "view" || name == "edit" || name == "admin" || name.starts_with("system:");
    return use_of_scc && user_facing ? Allowed::no : Allowed::unknown;
}

bool binds(const json& binding, const ServiceAccountName& account) {
    const std::vector<json>& subjects = items_at(binding, {"subjects"});
    return std::any_of(subjects.begin(), subjects.end(), [&](const json& subject) {
        const std::string kind = text_in(subject, {"kind"});
        const std::string name = text_in(subject, {"name"});
        if (kind != "ServiceAccount") {
            return (kind == "User" || kind == "Group") && is_or_includes(name, account);
        }
        const std::string name_space = text_in(subject, {"namespace"});
        return name == account.name &&
               (name_space.empty() ? namespace_of(binding) : name_space) == account.name_space;
    });
}

}  // namespace

bool is_or_includes(const std::string& user_or_group, const ServiceAccountName& account) {
    return user_or_group == "system:serviceaccounts" || user_or_group == "system:authenticated" ||
           user_or_group == "system:serviceaccounts:" + account.name_space ||
           user_or_group ==
               fmt::format("system:serviceaccount:{}:{}", account.name_space, account.name);
}

AccessRules::AccessRules(const std::vector<json>& objects) {
    for (const json& object : objects) {
        if (!text_in(object, {"apiVersion"}).starts_with("rbac.authorization.k8s.io/")) {
            continue;
        }
        const std::string kind = text_in(object, {"kind"});
        if (kind == "Role" || kind == "ClusterRole") {
            roles_.push_back(object);
        } else if (kind == "RoleBinding" || kind == "ClusterRoleBinding") {
            bindings_.push_back(object);
        }
    }
}

Allowed AccessRules::may(const ServiceAccountName& account, const ApiRequest& request) const {
    Allowed answer = Allowed::no;
    for (const json& binding : bindings_) {
        const bool everywhere = text_in(binding, {"kind"}) == "ClusterRoleBinding";
        if ((!everywhere && namespace_of(binding) != request.name_space) ||
            !binds(binding, account)) {
            continue;
        }
        const std::string kind = text_in(binding, {"roleRef", "kind"});
        const std::string name = text_in(binding, {"roleRef", "name"});
        const auto role = std::find_if(roles_.begin(), roles_.end(), [&](const json& each) {
            return text_in(each, {"kind"}) == kind && text_in(each, {"metadata", "name"}) == name &&
                   (kind == "ClusterRole" || namespace_of(each) == namespace_of(binding));
        });
        const Allowed of_role =
            role != roles_.end() ? allows(*role, request) : foreign_role_allows(name, request);
        if (of_role == Allowed::yes) {
            return Allowed::yes;
        }
        answer = of_role == Allowed::unknown ? Allowed::unknown : answer;
    }
    return answer;
}

}  // namespace edgegpu
