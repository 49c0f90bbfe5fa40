#include "bundles/privileges/rbac.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace edgegpu {

namespace {

constexpr std::string_view scc_group = "security.openshift.io";

/// Whether a rule has an object's name; unknown of one for named objects if there is no name.
Allowed allows(const std::vector<RoleRule>& rules, const std::vector<std::string_view>& verbs,
               std::string_view group, std::string_view resource, std::string_view name) {
    Allowed answer = Allowed::no;
    for (const RoleRule& rule : rules) {
        if (!rule.covers(group, resource, verbs)) {
            continue;
        }
        if (rule.names.empty() || std::ranges::find(rule.names, name) != rule.names.end()) {
            return Allowed::yes;
        }
        answer = name.empty() ? Allowed::unknown : answer;
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

bool binds(const AccessBinding& binding, const ServiceAccountName& account) {
    return std::ranges::any_of(binding.subjects, [&](const RoleSubject& subject) {
        if (subject.kind != "ServiceAccount") {
            return (subject.kind == "User" || subject.kind == "Group") &&
                   is_or_includes(subject.name, account);
        }
        const std::string& home = subject.name_space.empty() && !binding.everywhere
                                      ? binding.name_space
                                      : subject.name_space;
        return subject.name == account.name && home == account.name_space;
    });
}

}  // namespace

bool is_or_includes(const std::string& user_or_group, const ServiceAccountName& account) {
    return user_or_group == "system:serviceaccounts" || user_or_group == "system:authenticated" ||
           user_or_group == "system:serviceaccounts:" + account.name_space ||
           user_or_group ==
               fmt::format("system:serviceaccount:{}:{}", account.name_space, account.name);
}

Allowed AccessRules::may(const ServiceAccountName& account, const ApiRequest& request) const {
    Allowed answer = Allowed::no;
    for (const AccessBinding& binding : objects_.bindings) {
        if ((!binding.everywhere && binding.name_space != request.name_space) ||
            !binds(binding, account)) {
            continue;
        }
        const AccessRole* role = objects_.role_of(binding);
        const Allowed of_role = role != nullptr ? allows(role->rules, {request.verb}, request.group,
                                                         request.resource, request.name)
                                                : foreign_role_allows(binding.role_name, request);
        if (of_role == Allowed::yes) {
            return Allowed::yes;
        }
        if (of_role == Allowed::unknown || (role != nullptr && role->aggregated)) {
            answer = Allowed::unknown;
        }
    }
    return answer;
}

bool AccessRules::anybody_may(const std::vector<std::string_view>& verbs, std::string_view group,
                              std::string_view resource, std::string_view name_space,
                              std::string_view name) const {
    return std::ranges::any_of(objects_.bindings, [&](const AccessBinding& binding) {
        const bool reaches = binding.name_space == name_space ||
                             (binding.everywhere && std::ranges::find(binding.subjects, name_space,
                                                                      &RoleSubject::name_space) !=
                                                        binding.subjects.end());
        if (!reaches) {
            return false;
        }
        const AccessRole* role = objects_.role_of(binding);
        if (role == nullptr) {
            const std::string& known = binding.role_name;
            return known == "cluster-admin" || known == "admin" || known == "edit";
        }
        return role->aggregated ||
               allows(role->rules, verbs, group, resource, name) == Allowed::yes;
    });
}

}  // namespace edgegpu
