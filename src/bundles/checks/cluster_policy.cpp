#include "bundles/checks/cluster_policy.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr const char* enforce_label = "pod-security.kubernetes.io/enforce";
constexpr const char* enforce_version_label = "pod-security.kubernetes.io/enforce-version";
constexpr const char* sync_label = "security.openshift.io/scc.podSecurityLabelSync";

/// The kinds of Kubernetes itself that make pods, or are one.
bool makes_pods(const KubeObject& object) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kinds{
        {{"v1", "Pod"},
         {"v1", "ReplicationController"},
         {"apps/v1", "Deployment"},
         {"apps/v1", "ReplicaSet"},
         {"apps/v1", "StatefulSet"},
         {"apps/v1", "DaemonSet"},
         {"batch/v1", "Job"},
         {"batch/v1", "CronJob"}}};
    return std::ranges::any_of(kinds, [&](const auto& each) {
        return each.first == object.api_version && each.second == object.kind;
    });
}

void apply_defaults(AdmittedPod& pod) {
    json& spec = pod.content["spec"];
    if (!spec.is_object()) {
        return;
    }
    json& volumes = spec["volumes"];
    if (!volumes.is_array()) {
        volumes = json::array();
    }
    for (json& volume : volumes) {
        if (volume.is_object() && sources_of_volume(volume).empty()) {
            volume["emptyDir"] = json::object();
        }
    }
    if (pod.has_token) {
        volumes.push_back(
            {{"name", "the token of the service account"},
             {"projected", {{"sources", {{{"serviceAccountToken", json::object()}}}}}}});
    }
}

std::string label_of(const json& name_space, const char* label) {
    return text_in(name_space, {"metadata", "labels", label});
}

bool is_system(std::string_view name_space) {
    return name_space == "default" || name_space.starts_with("kube-") ||
           name_space == "openshift" || name_space.starts_with("openshift-");
}

}  // namespace

ClusterPolicy::ClusterPolicy(const KnownObjects& known)
    : version_(known.facts().kubernetes), sccs_(microshift_sccs()), access_(&known.access()) {
    for (const BundleObject& each : known.objects()) {
        const KubeObject& object = *each.object;
        if (object.kind == "Namespace" && object.api_version == "v1") {
            namespaces_[object.name] = object.content;
        } else if (object.kind == "ServiceAccount" && object.api_version == "v1") {
            accounts_.push_back(object.content);
        } else if (object.kind == "SecurityContextConstraints") {
            Scc scc = read_scc(object.content);
            std::erase_if(sccs_, [&](const Scc& each) { return each.name == scc.name; });
            sccs_.push_back(std::move(scc));
        }
    }
    sort_sccs(sccs_);
}

const json* ClusterPolicy::account(const ServiceAccountName& name) const {
    const auto found = std::ranges::find_if(accounts_, [&](const json& each) {
        return text_in(each, {"metadata", "name"}) == name.name &&
               text_in(each, {"metadata", "namespace"}) == name.name_space;
    });
    return found != accounts_.end() ? &*found : nullptr;
}

std::vector<AdmittedPod> ClusterPolicy::admitted(const std::vector<PodTemplate>& pods) const {
    std::vector<AdmittedPod> all;
    for (const PodTemplate& each : pods) {
        const KubeObject& object = *each.where.object;
        if (!makes_pods(object) || !namespaces_.contains(object.name_space)) {
            continue;
        }
        AdmittedPod pod;
        pod.source = &each;
        pod.pointer =
            each.pointer.substr(0, each.pointer.size() - std::string_view("/spec").size());
        pod.content["spec"] = *each.spec;
        pod.content["metadata"] = *each.metadata;
        std::string name = text_in(pod.content, {"spec", "serviceAccountName"});
        name = name.empty() ? text_in(pod.content, {"spec", "serviceAccount"}) : name;
        pod.account = {object.name_space, name.empty() ? "default" : name};
        const json* account = this->account(pod.account);
        if ((account == nullptr && pod.account.name != "default") ||
            text_in(pod.content, {"spec", "os", "name"}) == "windows") {
            continue;
        }
        const json& own = value_at(pod.content, {"spec", "automountServiceAccountToken"});
        static const json none;
        const json& of_account =
            value_at(account != nullptr ? *account : none, {"automountServiceAccountToken"});
        pod.has_token = own.is_boolean() ? own.get<bool>() : of_account != false;
        pod.by_administrator = object.kind == "Pod";
        apply_defaults(pod);
        all.push_back(std::move(pod));
    }
    return all;
}

Allowed ClusterPolicy::may_use(const ServiceAccountName& account, const Scc& scc) const {
    const auto names = [&](const std::vector<std::string>& users) {
        return std::ranges::any_of(
            users, [&](const std::string& user) { return is_or_includes(user, account); });
    };
    // MicroShift binds these to all accounts.
    if (scc.name == "restricted-v2" || scc.name == "restricted-v3" || names(scc.users) ||
        names(scc.user_groups)) {
        return Allowed::yes;
    }
    return access_->may(account, {"security.openshift.io", "securitycontextconstraints", "use",
                                  scc.name, account.name_space});
}

Allowed ClusterPolicy::may_use(const AdmittedPod& pod, const Scc& scc) const {
    return pod.by_administrator ? Allowed::yes : may_use(pod.account, scc);
}

bool ClusterPolicy::has_sccs(const std::string& name_space) const {
    const std::string level = label_of(namespaces_.at(name_space), "openshift.io/run-level");
    return level != "0" && level != "1";
}

NamespaceIds ClusterPolicy::ids(const std::string& name_space) const {
    return ids_of_namespace(value_at(namespaces_.at(name_space), {"metadata"}));
}

/// The widest level that the constraints of the namespace's accounts need.
std::optional<PodSecurityLevel> ClusterPolicy::synced_level(const std::string& name_space) const {
    std::vector<ServiceAccountName> names{{name_space, "default"}};
    for (const json& each : accounts_) {
        if (text_in(each, {"metadata", "namespace"}) == name_space) {
            names.push_back({name_space, text_in(each, {"metadata", "name"})});
        }
    }
    PodSecurityLevel widest = PodSecurityLevel::restricted;
    for (const Scc& scc : sccs_) {
        for (const ServiceAccountName& name : names) {
            const Allowed allowed = may_use(name, scc);
            if (allowed == Allowed::unknown) {
                return std::nullopt;
            }
            if (allowed == Allowed::yes) {
                widest = std::min(widest, level_of(scc, ids(name_space)));
            }
        }
    }
    return widest;
}

std::optional<EnforcedLevel> ClusterPolicy::level(const std::string& name_space) const {
    const json& object = namespaces_.at(name_space);
    const std::string sync = label_of(object, sync_label);
    const std::string label = label_of(object, enforce_label);
    const std::optional<PodSecurityLevel> level = pod_security_level(label);
    if (!label.empty() && sync != "true") {
        if (!level) {
            return std::nullopt;
        }
        const std::string version = label_of(object, enforce_version_label);
        return EnforcedLevel{*level, pod_security_version(version, version_).value_or(version_),
                             fmt::format("namespace \"{}\" enforces the pod security level \"{}\"",
                                         name_space, label)};
    }
    if (is_system(name_space)) {
        return std::nullopt;
    }
    if (sync == "false") {
        return EnforcedLevel{
            PodSecurityLevel::restricted, version_,
            fmt::format("namespace \"{}\" has no label {}, and \"restricted\" is MicroShift's "
                        "default",
                        name_space, enforce_label)};
    }
    const std::optional<PodSecurityLevel> synced = synced_level(name_space);
    if (!synced) {
        return std::nullopt;
    }
    return EnforcedLevel{
        *synced, version_,
        fmt::format(
            "MicroShift makes namespace \"{}\" enforce the pod security level \"{}\", which "
            "is what its service accounts may use",
            name_space, name_of(*synced)),
        true};
}

}  // namespace edgegpu
