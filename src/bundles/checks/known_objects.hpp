#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bundles/checks/findings.hpp"
#include "bundles/checks/image_facts.hpp"
#include "bundles/privileges/rbac.hpp"

namespace edgegpu {

/// A kind to whose objects others refer by name.
struct ReferredKind {
    /// "apps"; "" for the core
    std::string_view group;
    /// "Deployment"
    std::string_view kind;
    /// Its name in rules of roles: "deployments".
    std::string_view resource;
    bool namespaced = true;
    /// Whether programs that may create such objects do so under names that manifests know.
    bool by_programs = false;
    /// The same of controllers, for custom resources that mention the name.
    bool by_controllers = false;
};

/// The kinds to which the checks follow references.
namespace referred {
inline constexpr ReferredKind cluster_role{"rbac.authorization.k8s.io", "ClusterRole",
                                           "clusterroles", false};
inline constexpr ReferredKind config_map{"", "ConfigMap", "configmaps", true, false, true};
inline constexpr ReferredKind definition{"apiextensions.k8s.io", "CustomResourceDefinition",
                                         "customresourcedefinitions", false, true};
inline constexpr ReferredKind name_space{"", "Namespace", "namespaces", false, true};
inline constexpr ReferredKind claim{
    "", "PersistentVolumeClaim", "persistentvolumeclaims", true, true, true};
inline constexpr ReferredKind pod{"", "Pod", "pods", true, true, true};
inline constexpr ReferredKind priority_class{"scheduling.k8s.io", "PriorityClass",
                                             "priorityclasses", false};
inline constexpr ReferredKind role{"rbac.authorization.k8s.io", "Role", "roles"};
inline constexpr ReferredKind secret{"", "Secret", "secrets", true, true, true};
inline constexpr ReferredKind service{"", "Service", "services", true, true, true};
inline constexpr ReferredKind service_account{"", "ServiceAccount", "serviceaccounts"};
inline constexpr ReferredKind storage_class{"storage.k8s.io", "StorageClass", "storageclasses",
                                            false, true};
}  // namespace referred

/// The objects that a device has, as far as is known: those of the bundles, those of MicroShift,
/// those that the blueprint says are provided, and those that programs of the bundles may create.
class KnownObjects {
public:
    /// `objects` and `facts` must outlive it.
    KnownObjects(const std::vector<BundleObject>& objects, const ImageFacts& facts);

    [[nodiscard]] const std::vector<BundleObject>& objects() const { return *objects_; }
    [[nodiscard]] const ImageFacts& facts() const { return *facts_; }
    [[nodiscard]] const AccessRules& access() const { return access_; }
    /// Where MicroShift puts an object: "default" for one of a namespaced kind that names no
    /// namespace; empty for objects that belong to none.
    [[nodiscard]] const std::string& namespace_of(const KubeObject& object) const;
    /// Whether an object's kind is none of Kubernetes itself.
    [[nodiscard]] bool is_custom(const KubeObject& object) const;
    /// The object of a bundle; null if none has it. An empty namespace for cluster-scoped kinds.
    [[nodiscard]] const BundleObject* find(const ReferredKind& kind, const std::string& name_space,
                                           const std::string& name) const;
    /// All objects of a kind in a namespace.
    [[nodiscard]] std::vector<BundleObject> all_of(const ReferredKind& kind,
                                                   const std::string& name_space) const;
    /// Whether the blueprint says that something else brings it.
    [[nodiscard]] bool is_provided(std::string_view kind, std::string_view name_space,
                                   std::string_view name) const;
    /// Whether nothing that is known brings an object, or may create it. Namespaces that belong to
    /// no bundle may contain anything, and so may a device of which only a part is known.
    [[nodiscard]] bool lacks(const ReferredKind& kind, const std::string& name_space,
                             const std::string& name) const;
    /// Whether programs or custom resources may make pods, services and the like in a namespace, or
    /// label those that are there: not all of them are known.
    [[nodiscard]] bool is_in_flux(const std::string& name_space) const;
    /// Whether the content of an object that a bundle has may be written on the device.
    [[nodiscard]] bool is_rewritten(const ReferredKind& kind, const std::string& name_space,
                                    const std::string& name) const;
    /// Whether a bundle installs software of which nothing is known here: OLM, Argo CD, Flux, Helm.
    [[nodiscard]] bool installs_others() const { return installs_others_; }

    /// Whether MicroShift begins to apply bundle `a` only after it is done with `b`, or has given
    /// that up after ten minutes: with one kustomization over all bundles never, else in the order
    /// of their names.
    [[nodiscard]] bool is_applied_after(const RenderedBundle& a, const RenderedBundle& b) const;

    /// What to do about an object that is missing: a similar name, another namespace in which it
    /// is, and `microshift.provided`.
    [[nodiscard]] std::string way_out(const ReferredKind& kind, const std::string& name_space,
                                      const std::string& name) const;

private:
    /// Whether the bundles alone decide what is in a namespace: MicroShift has objects in its own.
    [[nodiscard]] bool is_own(const std::string& name_space) const;
    /// Whether a custom resource installs software of which nothing is known in a namespace.
    [[nodiscard]] bool is_installed_into(const std::string& name_space) const;
    [[nodiscard]] bool made_by_custom_resource(const std::string& name_space,
                                               const std::string& name) const;

    const std::vector<BundleObject>* objects_;
    const ImageFacts* facts_;
    /// Objects whose kind is none of Kubernetes itself.
    std::set<const KubeObject*> custom_;
    std::map<const KubeObject*, std::string> namespaces_;
    /// Those of `custom_` for which a controller may make other objects.
    std::vector<const KubeObject*> active_;
    /// by group, kind, namespace, name
    std::map<std::tuple<std::string, std::string, std::string, std::string>, BundleObject> index_;
    std::set<std::string> own_namespaces_;
    bool installs_others_ = false;
    AccessRules access_;
};

/// "NAMESPACE/NAME", or "NAME" of what belongs to no namespace.
[[nodiscard]] std::string full_name(const std::string& name_space, const std::string& name);

}  // namespace edgegpu
