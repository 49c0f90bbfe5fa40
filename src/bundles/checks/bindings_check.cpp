#include "bundles/checks/bindings_check.hpp"

#include <fmt/format.h>

#include "bundles/checks/microshift_api.hpp"
#include "bundles/json_value.hpp"
#include "schema/kind_problem.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

void check_bound_role(const KnownObjects& known, const BundleObject& where,
                      const std::string& name_space, Findings& findings) {
    const std::string kind = text_in(where.object->content, {"roleRef", "kind"});
    const std::string name = text_in(where.object->content, {"roleRef", "name"});
    const bool of_cluster = kind == "ClusterRole";
    if (name.empty() || (kind != "Role" && !of_cluster) ||
        (of_cluster && is_builtin_cluster_role(name))) {
        return;
    }
    const ReferredKind& referred = of_cluster ? referred::cluster_role : referred::role;
    const std::string home = of_cluster ? std::string() : name_space;
    if (!(of_cluster && known.installs_others()) && known.lacks(referred, home, name)) {
        findings.add(where, "/roleRef/name",
                     fmt::format("no bundle has {} {}; the binding grants nothing", kind,
                                 full_name(home, name)),
                     known.way_out(referred, home, name));
    }
}

void check_subject(const KnownObjects& known, const BundleObject& where,
                   const std::string& name_space, const json& subject, const std::string& pointer,
                   Findings& findings) {
    const std::string name = text_in(subject, {"name"});
    std::string home = text_in(subject, {"namespace"});
    if (text_in(subject, {"kind"}) != "ServiceAccount" || name.empty()) {
        return;
    }
    if (home.empty() && where.object->kind == "ClusterRoleBinding") {
        findings.add(where, pointer,
                     fmt::format("the service account {} has no namespace; the API server refuses "
                                 "the object",
                                 name),
                     "write the account's namespace beside its name");
        return;
    }
    home = home.empty() ? name_space : home;
    // Operators make accounts for the workloads of their custom resources.
    if (name != "default" && !known.is_in_flux(home) &&
        known.lacks(referred::service_account, home, name)) {
        findings.add(where, pointer + "/name",
                     fmt::format("no bundle has ServiceAccount {}; nobody gets the role",
                                 full_name(home, name)),
                     known.way_out(referred::service_account, home, name));
    }
}

}  // namespace

void check_bindings(const KnownObjects& known, Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        const KubeObject& object = *each.object;
        if (group_of(object.api_version) != "rbac.authorization.k8s.io" ||
            !object.kind.ends_with("RoleBinding")) {
            continue;
        }
        const std::string& name_space = known.namespace_of(object);
        check_bound_role(known, each, name_space, findings);
        const std::vector<json>& subjects = items_at(object.content, {"subjects"});
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            check_subject(known, each, name_space, subjects[i], fmt::format("/subjects/{}", i),
                          findings);
        }
    }
}

}  // namespace edgegpu
