#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"
#include "bundles/privileges/pod_security.hpp"
#include "bundles/privileges/rbac.hpp"
#include "bundles/privileges/scc.hpp"

namespace edgegpu {

/// A pod as the API server sees it: made of a template of the bundle.
struct AdmittedPod {
    const PodTemplate* source = nullptr;
    /// JSON pointer to the object with its metadata and spec: "/spec/template", "" of a Pod
    std::string pointer;
    /// `metadata` and `spec`, with the defaults that admission sees: a volume without source is an
    /// emptyDir, and the token of the service account is a volume
    nlohmann::json content;
    ServiceAccountName account;
    /// MicroShift itself creates it, an administrator; else a controller does, which may use
    /// nothing
    bool by_administrator = false;
    bool has_token = false;
};

/// The level that a namespace enforces.
struct EnforcedLevel {
    PodSecurityLevel level = PodSecurityLevel::privileged;
    KubernetesVersion version;
    /// "namespace \"a\" enforces the pod security level \"baseline\""
    std::string said;
    /// MicroShift computes it from the constraints that the namespace's accounts may use.
    bool follows_sccs = false;
};

/// What all bundles together make of namespaces, accounts, roles and constraints.
class ClusterPolicy {
public:
    /// `known` must outlive this.
    explicit ClusterPolicy(const KnownObjects& known);

    /// The pods of workloads whose namespace and service account are known.
    [[nodiscard]] std::vector<AdmittedPod> admitted(const std::vector<PodTemplate>& pods) const;

    /// All constraints, in the order in which they are tried.
    [[nodiscard]] const std::vector<Scc>& sccs() const { return sccs_; }

    /// Whether a pod's account, or who creates the pod, may use a constraint.
    [[nodiscard]] Allowed may_use(const AdmittedPod& pod, const Scc& scc) const;

    /// Whether constraints are applied in a namespace at all.
    [[nodiscard]] bool has_sccs(const std::string& name_space) const;

    /// The ids of a namespace.
    [[nodiscard]] NamespaceIds ids(const std::string& name_space) const;

    /// The level that a namespace enforces; nothing if that is unknown.
    [[nodiscard]] std::optional<EnforcedLevel> level(const std::string& name_space) const;

    [[nodiscard]] const AccessRules& access() const { return *access_; }

private:
    [[nodiscard]] const nlohmann::json* account(const ServiceAccountName& name) const;
    [[nodiscard]] Allowed may_use(const ServiceAccountName& account, const Scc& scc) const;
    [[nodiscard]] std::optional<PodSecurityLevel> synced_level(const std::string& name_space) const;

    KubernetesVersion version_;
    std::vector<nlohmann::json> accounts_;
    std::map<std::string, nlohmann::json> namespaces_;
    std::vector<Scc> sccs_;
    const AccessRules* access_;
};

}  // namespace edgegpu
