#include "bundles/checks/privileges_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/cluster_policy.hpp"
#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "bundles/privileges/known_programs.hpp"
#include "bundles/privileges/scc_admission.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// What is said of several volumes is said once: pods of system programs have many. The others keep
/// their places.
template <typename Problem>
std::vector<Problem> without_repeated_volumes(std::vector<Problem> problems) {
    std::vector<Problem> kept;
    std::map<std::string, std::size_t> more;
    for (Problem& each : problems) {
        if (!each.pointer.starts_with("/spec/volumes/") || more[each.hint]++ == 0) {
            kept.push_back(std::move(each));
        }
    }
    for (Problem& each : kept) {
        const auto found = more.find(each.hint);
        if (found != more.end() && found->second > 1 &&
            each.pointer.starts_with("/spec/volumes/")) {
            each.message += fmt::format(" (and {} more)", found->second - 1);
        }
    }
    return kept;
}

/// What the constraints make of a pod.
struct SccChoice {
    /// The pod as it goes on: what the first constraint made of it that admits it.
    json pod;
    /// If none admits it: the problems of the nearest constraint, and the strictest one that would.
    std::vector<SccProblem> problems;
    std::optional<std::string> remedy;
    /// those that may be used
    std::vector<std::string> usable;
};

/// The strictest constraint that admits the pod, whoever may use it.
void find_remedy(const ClusterPolicy& policy, const AdmittedPod& pod, const NamespaceIds& ids,
                 SccChoice& choice) {
    std::vector<Scc> sccs = policy.sccs();
    std::ranges::sort(sccs, [](const Scc& a, const Scc& b) { return a.points() < b.points(); });
    for (const Scc& scc : sccs) {
        SccVerdict verdict = apply_scc(scc, pod.content, ids);
        if (verdict.problems.empty()) {
            choice.remedy = scc.name;
            choice.pod = std::move(verdict.pod);
            return;
        }
    }
}

SccChoice choose_scc(const ClusterPolicy& policy, const AdmittedPod& pod) {
    SccChoice choice{pod.content, {}, std::nullopt, {}};
    const std::string& name_space = pod.account.name_space;
    if (!policy.has_sccs(name_space)) {
        return choice;
    }
    const NamespaceIds ids = policy.ids(name_space);
    const std::string required =
        text_in(pod.content, {"metadata", "annotations", "openshift.io/required-scc"});
    std::optional<std::vector<SccProblem>> nearest;
    for (const Scc& scc : policy.sccs()) {
        if ((!required.empty() && scc.name != required) ||
            policy.may_use(pod, scc) == Allowed::no) {
            continue;
        }
        SccVerdict verdict = apply_scc(scc, pod.content, ids);
        if (verdict.problems.empty()) {
            choice.pod = std::move(verdict.pod);
            choice.problems.clear();
            return choice;
        }
        choice.usable.push_back(scc.name);
        // Who did not ask for a user namespace does not want to hear of those constraints.
        const bool strange =
            scc.needs_user_namespace && value_at(pod.content, {"spec", "hostUsers"}) != false;
        // The later ones allow more: what these refuse is what is left to be done.
        if (!strange && (!nearest || verdict.problems.size() <= nearest->size())) {
            nearest = std::move(verdict.problems);
        }
    }
    choice.problems = std::move(nearest).value_or(std::vector<SccProblem>{});
    find_remedy(policy, pod, ids, choice);
    return choice;
}

/// The strict ones of users without a user namespace are more than anybody wants to read.
std::string listed(const std::vector<std::string>& sccs) {
    std::vector<std::string> names;
    std::ranges::copy_if(sccs, std::back_inserter(names),
                         [](const std::string& name) { return name != "restricted-v3"; });
    return fmt::format("{}", fmt::join(names, ", "));
}

/// How the account gets what the pod asks for; empty if no constraint allows it.
std::string grant_of(const ServiceAccountName& account, const SccChoice& choice) {
    if (!choice.remedy) {
        return "";
    }
    const std::vector<Scc> own = microshift_sccs();
    const bool has_role =
        std::ranges::any_of(own, [&](const Scc& each) { return each.name == *choice.remedy; });
    return fmt::format(
        ", or let a role binding in namespace \"{}\" allow service account \"{}\" to use \"{}\"{}",
        account.name_space, account.name, *choice.remedy,
        has_role ? fmt::format(" (cluster role system:openshift:scc:{})", *choice.remedy) : "");
}

void report_scc(const AdmittedPod& pod, const SccChoice& choice, Findings& findings) {
    const ServiceAccountName& account = pod.account;
    for (const SccProblem& problem : without_repeated_volumes(choice.problems)) {
        findings.add(pod.source->where, pod.pointer + problem.pointer,
                     fmt::format("{}; no security context constraint that service account \"{}\" "
                                 "may use allows it ({})",
                                 problem.message, account.name, listed(choice.usable)),
                     problem.hint + grant_of(account, choice));
    }
}

/// In versions of Kubernetes before 1.35 it depends on a feature gate.
bool depends_on_gate(const PodSecurityViolation& violation, const AdmittedPod& pod,
                     KubernetesVersion version) {
    const PodSecurityControl control = violation.control;
    return version.minor < 35 && value_at(pod.content, {"spec", "hostUsers"}) == false &&
           (control == PodSecurityControl::run_as_non_root ||
            control == PodSecurityControl::run_as_user ||
            control == PodSecurityControl::proc_mount);
}

void report_level(const ClusterPolicy& policy, const AdmittedPod& pod, const json& content,
                  bool refused, Findings& findings) {
    const std::optional<EnforcedLevel> enforced = policy.level(pod.account.name_space);
    // A level that follows the constraints changes with what is granted.
    if (!enforced || (enforced->follows_sccs && refused)) {
        return;
    }
    const bool baseline =
        enforced->level == PodSecurityLevel::restricted &&
        pod_security_violations(content, PodSecurityLevel::baseline, enforced->version).empty();
    for (const PodSecurityViolation& violation : without_repeated_volumes(
             pod_security_violations(content, enforced->level, enforced->version))) {
        if (!depends_on_gate(violation, pod, enforced->version)) {
            findings.add(
                pod.source->where, pod.pointer + violation.pointer,
                fmt::format("{}, but {}", violation.message, enforced->said),
                fmt::format(
                    "{}, or label the namespace with pod-security.kubernetes.io/enforce: {}",
                    violation.hint, baseline ? "baseline" : "privileged"));
        }
    }
}

std::string title_of_request(const ApiRequest& request, const std::string& verbs) {
    return fmt::format("{} {}{}{}", verbs, request.resource, request.group.empty() ? "" : ".",
                       request.group);
}

bool brings_token(const AdmittedPod& pod) {
    if (pod.has_token) {
        return true;
    }
    const std::vector<json>& volumes = items_at(pod.content, {"spec", "volumes"});
    return std::ranges::any_of(volumes, [](const json& volume) {
        // A secret may hold a token as well.
        return !value_at(volume, {"secret"}).is_null() ||
               !items_at(volume, {"projected", "sources"}).empty();
    });
}

void report_missing(const AdmittedPod& pod, const PodContainer& container, const KnownNeeds& known,
                    const AccessRules& access, Findings& findings) {
    for (std::size_t i = 0; i < known.requests.size();) {
        const ApiRequest& request = known.requests[i];
        std::string verbs;
        for (; i < known.requests.size() && known.requests[i].resource == request.resource &&
               known.requests[i].group == request.group;
             ++i) {
            if (access.may(pod.account, known.requests[i]) == Allowed::no) {
                verbs += (verbs.empty() ? "" : ", ") + known.requests[i].verb;
            }
        }
        if (!verbs.empty()) {
            const bool own = !request.name_space.empty();
            findings.add(
                pod.source->where, pod.pointer + container.pointer,
                fmt::format("{} has to {}{}, which no role allows service account \"{}\"",
                            known.program, title_of_request(request, verbs),
                            own ? fmt::format(" in namespace \"{}\"", request.name_space) : "",
                            pod.account.name),
                fmt::format("bring a {} with this rule and a {} to the service account",
                            own ? "Role" : "ClusterRole",
                            own ? "RoleBinding" : "ClusterRoleBinding"));
        }
    }
}

void check_programs(const ClusterPolicy& policy, const AdmittedPod& pod, Findings& findings) {
    for (const PodContainer& container : containers_of(pod.content)) {
        const KnownNeeds known = needs_of(*container.content, pod.account.name_space);
        if (known.requests.empty()) {
            continue;
        }
        if (!brings_token(pod)) {
            findings.add(
                pod.source->where, pod.pointer + container.pointer,
                fmt::format("{} has to ask the API server, but the pod has no token of its "
                            "service account",
                            known.program),
                "set automountServiceAccountToken: true in the pod's spec");
        }
        report_missing(pod, container, known, policy.access(), findings);
    }
}

/// The API server refuses namespaces with wrong labels.
void check_labels(const BundleObject& each, Findings& findings) {
    if (each.object->kind != "Namespace" || each.object->api_version != "v1") {
        return;
    }
    for (const char* mode : {"enforce", "audit", "warn"}) {
        const std::string label = fmt::format("pod-security.kubernetes.io/{}", mode);
        const json& level = value_at(each.object->content, {"metadata", "labels", label});
        if (!level.is_null() && !pod_security_level(text_of(level))) {
            findings.add(each, fmt::format("/metadata/labels/pod-security.kubernetes.io~1{}", mode),
                         fmt::format("{}: \"{}\" is not a level", label, text_of(level)),
                         "the levels are privileged, baseline and restricted");
        }
        const std::string of_version = label + "-version";
        const json& version = value_at(each.object->content, {"metadata", "labels", of_version});
        if (!version.is_null() && !pod_security_version(text_of(version), {0})) {
            findings.add(
                each, fmt::format("/metadata/labels/pod-security.kubernetes.io~1{}-version", mode),
                fmt::format("{}: \"{}\" is not a version", of_version, text_of(version)),
                "versions are like v1.31; \"latest\" is the one of MicroShift");
        }
    }
}

}  // namespace

void check_privileges(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                      Findings& findings) {
    for (const BundleObject& each : known.objects()) {
        check_labels(each, findings);
    }
    const ClusterPolicy policy(known);
    for (const AdmittedPod& pod : policy.admitted(pods)) {
        const SccChoice choice = choose_scc(policy, pod);
        report_scc(pod, choice, findings);
        report_level(policy, pod, choice.pod, !choice.problems.empty(), findings);
        check_programs(policy, pod, findings);
    }
}

}  // namespace edgegpu
