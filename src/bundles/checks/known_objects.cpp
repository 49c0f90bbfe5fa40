#include "bundles/checks/known_objects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/microshift_api.hpp"
#include "bundles/json_value.hpp"
#include "schema/kind_problem.hpp"
#include "schema/kubernetes_schemas.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// The kinds that the bundles' definitions say belong to no namespace, by group and kind.
std::set<std::pair<std::string, std::string>> cluster_kinds(
    const std::vector<BundleObject>& objects) {
    std::set<std::pair<std::string, std::string>> kinds;
    for (const BundleObject& each : objects) {
        const json& content = each.object->content;
        if (each.object->kind == "CustomResourceDefinition" &&
            text_in(content, {"spec", "scope"}) == "Cluster") {
            kinds.emplace(text_in(content, {"spec", "group"}),
                          text_in(content, {"spec", "names", "kind"}));
        }
    }
    return kinds;
}

/// The namespace in which MicroShift puts each object; adds those of kinds that Kubernetes does not
/// have to `custom`.
std::map<const KubeObject*, std::string> namespaces_of(const std::vector<BundleObject>& objects,
                                                       const KubernetesSchemas& schemas,
                                                       std::set<const KubeObject*>& custom) {
    const SchemaTable table = shipped_schema_table();
    const auto cluster = cluster_kinds(objects);
    std::map<const KubeObject*, std::string> namespaces;
    for (const BundleObject& each : objects) {
        const KubeObject& object = *each.object;
        const std::string group(group_of(object.api_version));
        const auto scope = schemas.scope_of(object.api_version, object.kind);
        const bool none =
            scope ? *scope == KindScope::cluster : cluster.contains({group, object.kind});
        // Of a kind that is not known, the namespace says whether it belongs to one.
        const bool is_default = scope && object.name_space.empty();
        namespaces[each.object] = none ? "" : is_default ? "default" : object.name_space;
        if (!scope && !is_kubernetes_group(table, group)) {
            custom.insert(each.object);
        }
    }
    return namespaces;
}

/// Custom resources that only configure: no controller makes objects of them to which others
/// refer.
bool is_passive(std::string_view group, std::string_view kind) {
    static constexpr std::array<std::string_view, 12> groups{
        "gateway.networking.k8s.io", "networking.istio.io", "security.istio.io",
        "telemetry.istio.io",        "k8s.cni.cncf.io",     "migration.k8s.io",
        "monitoring.coreos.com",     "route.openshift.io",  "security.openshift.io",
        "snapshot.storage.k8s.io",   "nfd.k8s-sigs.io",     "topolvm.io"};
    static constexpr std::array<std::string_view, 6> active{"Gateway",     "Alertmanager",
                                                            "Prometheus",  "PrometheusAgent",
                                                            "ThanosRuler", "NodeFeatureDiscovery"};
    return std::ranges::find(groups, group) != groups.end() &&
           std::ranges::find(active, kind) == active.end();
}

/// Groups of custom resources of which controllers make secrets and config maps, and nothing else.
bool makes_data_alone(std::string_view group) {
    static constexpr std::array<std::string_view, 5> groups{
        "acme.cert-manager.io", "bitnami.com", "cert-manager.io", "external-secrets.io",
        "trust.cert-manager.io"};
    return std::ranges::find(groups, group) != groups.end();
}

/// Custom resources by which other software is installed.
bool is_installer(std::string_view group, std::string_view kind) {
    return (group == "operators.coreos.com" && kind == "Subscription") ||
           group == "olm.operatorframework.io" || group == "helm.cattle.io" ||
           (group == "argoproj.io" && kind.starts_with("Application")) ||
           group.ends_with(".toolkit.fluxcd.io");
}

AccessRules access_among(const std::vector<BundleObject>& objects) {
    AccessObjects found;
    for (const BundleObject& each : objects) {
        found.add(*each.object);
    }
    return AccessRules(std::move(found));
}

// NOLINTNEXTLINE(misc-no-recursion): YAML has at most 100 levels
bool mentions(const json& node, std::string_view text) {
    if (!node.is_structured()) {
        return text_of(node) == text;
    }
    return std::ranges::any_of(node, [&](const json& item) { return mentions(item, text); });
}

}  // namespace

std::string full_name(const std::string& name_space, const std::string& name) {
    return name_space.empty() ? name : name_space + '/' + name;
}

KnownObjects::KnownObjects(const std::vector<BundleObject>& objects, const ImageFacts& facts)
    : objects_(&objects),
      facts_(&facts),
      namespaces_(namespaces_of(objects, KubernetesSchemas(facts.kubernetes), custom_)),
      access_(access_among(objects)) {
    for (const BundleObject& each : objects) {
        const KubeObject& object = *each.object;
        const std::string group(group_of(object.api_version));
        index_.emplace(std::tuple(group, object.kind, namespaces_.at(&object), object.name), each);
        if (object.kind == "Namespace" && group.empty()) {
            own_namespaces_.insert(object.name);
        }
        if (custom_.contains(&object)) {
            installs_others_ = installs_others_ || is_installer(group, object.kind);
            if (!is_passive(group, object.kind)) {
                active_.push_back(&object);
            }
        }
    }
}

const std::string& KnownObjects::namespace_of(const KubeObject& object) const {
    return namespaces_.at(&object);
}

bool KnownObjects::is_custom(const KubeObject& object) const {
    return custom_.contains(&object);
}

const BundleObject* KnownObjects::find(const ReferredKind& kind, const std::string& name_space,
                                       const std::string& name) const {
    const auto found =
        index_.find(std::tuple(std::string(kind.group), std::string(kind.kind), name_space, name));
    return found == index_.end() ? nullptr : &found->second;
}

std::vector<BundleObject> KnownObjects::all_of(const ReferredKind& kind,
                                               const std::string& name_space) const {
    std::vector<BundleObject> all;
    const std::tuple key(std::string(kind.group), std::string(kind.kind), name_space,
                         std::string());
    for (auto at = index_.lower_bound(key); at != index_.end(); ++at) {
        const auto& [group, name, home, unused] = at->first;
        if (group != kind.group || name != kind.kind || home != name_space) {
            break;
        }
        all.push_back(at->second);
    }
    return all;
}

bool KnownObjects::is_provided(std::string_view kind, std::string_view name_space,
                               std::string_view name) const {
    return facts_->provides(kind, name_space, name);
}

bool KnownObjects::is_installed_into(const std::string& name_space) const {
    return std::ranges::any_of(active_, [&](const KubeObject* object) {
        return is_installer(group_of(object->api_version), object->kind) &&
               (namespaces_.at(object) == name_space || mentions(object->content, name_space));
    });
}

bool KnownObjects::made_by_custom_resource(const std::string& name_space,
                                           const std::string& name) const {
    return std::ranges::any_of(active_, [&](const KubeObject* object) {
        const std::string& home = namespaces_.at(object);
        return (home.empty() || home == name_space) &&
               (mentions(object->content, name) || name.starts_with(object->name + '-'));
    });
}

bool KnownObjects::is_own(const std::string& name_space) const {
    const auto& of_microshift = microshift_namespaces();
    return name_space == "default" ||
           (own_namespaces_.contains(name_space) &&
            std::ranges::none_of(of_microshift, [&](const MicroshiftNamespace& each) {
                return each.name == name_space;
            }));
}

bool KnownObjects::lacks(const ReferredKind& kind, const std::string& name_space,
                         const std::string& name) const {
    const bool decided = !kind.namespaced || (is_own(name_space) && !is_installed_into(name_space));
    return decided && !facts_->partial && find(kind, name_space, name) == nullptr &&
           !is_provided(kind.kind, name_space, name) &&
           !(kind.by_programs &&
             access_.anybody_may({"create"}, kind.group, kind.resource, name_space, name)) &&
           !(kind.by_controllers && made_by_custom_resource(name_space, name));
}

bool KnownObjects::is_in_flux(const std::string& name_space) const {
    if (facts_->partial || is_installed_into(name_space) ||
        std::ranges::any_of(active_, [&](const KubeObject* object) {
            const std::string& home = namespaces_.at(object);
            return (home.empty() || home == name_space) &&
                   !makes_data_alone(group_of(object->api_version));
        })) {
        return true;
    }
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> made{
        {{"", "pods"},
         {"", "services"},
         {"apps", "daemonsets"},
         {"apps", "deployments"},
         {"apps", "statefulsets"},
         {"batch", "jobs"},
         {"discovery.k8s.io", "endpointslices"}}};
    return std::ranges::any_of(made, [&](const auto& each) {
        return access_.anybody_may({"create", "patch", "update"}, each.first, each.second,
                                   name_space, "");
    });
}

bool KnownObjects::is_rewritten(const ReferredKind& kind, const std::string& name_space,
                                const std::string& name) const {
    return is_provided(kind.kind, name_space, name) ||
           access_.anybody_may({"patch", "update"}, kind.group, kind.resource, name_space, name) ||
           made_by_custom_resource(name_space, name);
}

bool KnownObjects::is_applied_after(const RenderedBundle& a, const RenderedBundle& b) const {
    return facts_->manifests != ManifestsPlace::root && b.name < a.name;
}

std::string KnownObjects::way_out(const ReferredKind& kind, const std::string& name_space,
                                  const std::string& name) const {
    std::vector<std::string> near;
    std::vector<std::string> elsewhere;
    for (const BundleObject& each : *objects_) {
        const KubeObject& object = *each.object;
        if (object.kind != kind.kind || group_of(object.api_version) != kind.group) {
            continue;
        }
        const std::string& home = namespaces_.at(&object);
        if (home == name_space) {
            near.push_back(object.name);
        } else if (object.name == name) {
            elsewhere.push_back(
                object.name_space.empty() ? fmt::format("{} (it names no namespace)", home) : home);
        }
    }
    std::string text;
    if (!elsewhere.empty()) {
        text = fmt::format("{} {} is in the namespace {}. ", kind.kind, name,
                           fmt::join(elsewhere, ", "));
    } else if (const auto names = nearest_names(name, near); !names.empty()) {
        text = fmt::format("did you mean {}? ", names.front());
    }
    return text + fmt::format(
                      "{} something other than the bundles creates it, write [microshift] provided "
                      "= [\"{} {}\"]",
                      text.empty() ? "if" : "If", kind.kind, full_name(name_space, name));
}

}  // namespace edgegpu
