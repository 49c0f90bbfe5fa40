#include "bundles/install/system_objects.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "bundles/checks/microshift_api.hpp"
#include "bundles/privileges/scc.hpp"

namespace edgegpu {

namespace {

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Kinds of which programs of the cluster make all objects, or nearly all.
constexpr std::array<std::string_view, 9> kinds_of_system{"APIService",
                                                          "CSINode",
                                                          "ComponentStatus",
                                                          "FlowSchema",
                                                          "Lease",
                                                          "Node",
                                                          "PriorityLevelConfiguration",
                                                          "StorageVersion",
                                                          "VolumeAttachment"};

/// In every namespace.
bool is_in_each_namespace(std::string_view kind, std::string_view name) {
    static constexpr std::array<std::string_view, 2> config_maps{"kube-root-ca.crt",
                                                                 "openshift-service-ca.crt"};
    return (kind == "ServiceAccount" && name == "default") ||
           (kind == "ConfigMap" && is_among(config_maps, name));
}

bool is_role_of_system(std::string_view name) {
    return is_builtin_cluster_role(name) || name.starts_with("system:") ||
           name.starts_with("openshift-") || name.starts_with("microshift-") ||
           name.starts_with("topolvm") || name.starts_with("ovn");
}

/// A definition in an API group of MicroShift.
bool is_definition_of_system(std::string_view name) {
    const std::vector<MicroshiftGroup>& groups = microshift_groups();
    return std::ranges::any_of(groups, [&](const MicroshiftGroup& each) {
        return name.size() > each.group.size() && name.ends_with(each.group) &&
               name[name.size() - each.group.size() - 1] == '.';
    });
}

bool is_constraint_of_system(std::string_view name) {
    const std::vector<Scc> constraints = microshift_sccs();
    return std::ranges::any_of(constraints, [&](const Scc& scc) { return scc.name == name; });
}

}  // namespace

bool is_system_namespace(std::string_view name) {
    return name == "default" || name == "openshift" || name.starts_with("kube-") ||
           name.starts_with("openshift-");
}

bool belongs_to_system(std::string_view group, std::string_view kind, std::string_view name_space,
                       std::string_view name) {
    if (kind == "Namespace") {
        return is_system_namespace(name);
    }
    if (!name_space.empty()) {
        // What has no namespace is in "default".
        return (name_space != "default" && is_system_namespace(name_space)) ||
               is_in_each_namespace(kind, name) || kind == "Lease" ||
               (group.empty() && kind == "Service" && name_space == "default" &&
                name == "kubernetes");
    }
    if (kind == "ClusterRole" || kind == "ClusterRoleBinding") {
        return is_role_of_system(name);
    }
    return is_among(kinds_of_system, kind) ||
           (kind == "PriorityClass" && is_builtin_priority_class(name)) ||
           (kind == "StorageClass" && is_builtin_storage_class(name)) ||
           (kind == "CSIDriver" && name == "topolvm.io") ||
           (kind == "IngressClass" && name.starts_with("openshift-")) ||
           (kind == "CustomResourceDefinition" && is_definition_of_system(name)) ||
           (kind == "SecurityContextConstraints" && is_constraint_of_system(name));
}

}  // namespace edgegpu
