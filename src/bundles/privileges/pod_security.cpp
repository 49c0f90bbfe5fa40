#include "bundles/privileges/pod_security.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/privileges/pod_security_checks.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

constexpr std::array<std::string_view, 3> level_names{"privileged", "baseline", "restricted"};
constexpr std::array<std::string_view, 16> control_names{
    "hostNamespaces",    "privileged",
    "capabilities",      "hostPathVolumes",
    "hostPorts",         "hostProbesAndHostLifecycle",
    "appArmorProfile",   "seLinuxOptions",
    "procMount",         "seccompProfile",
    "sysctls",           "windowsHostProcess",
    "restrictedVolumes", "allowPrivilegeEscalation",
    "runAsNonRoot",      "runAsUser"};

/// From which minor version of Kubernetes on the standard has a control.
struct Since {
    unsigned minor;
    void (*check)(const PodUnderCheck&);
};

constexpr std::array<Since, 9> controls_of_both{{{0, check_host_namespaces},
                                                 {0, check_privileged},
                                                 {0, check_host_ports},
                                                 {34, check_host_probes},
                                                 {0, check_app_armor},
                                                 {0, check_selinux_options},
                                                 {0, check_proc_mount},
                                                 {0, check_sysctls},
                                                 {0, check_windows_host_process}}};
constexpr std::array<Since, 3> controls_of_baseline{
    {{0, check_added_capabilities}, {0, check_host_path_volumes}, {19, check_seccomp_type}}};
constexpr std::array<Since, 6> controls_of_restricted{{{22, check_restricted_capabilities},
                                                       {0, check_volume_types},
                                                       {8, check_privilege_escalation},
                                                       {19, check_required_seccomp},
                                                       {0, check_run_as_non_root},
                                                       {23, check_run_as_user}}};

template <std::size_t Size>
void run_controls(const std::array<Since, Size>& controls, const PodUnderCheck& check) {
    for (const Since& each : controls) {
        if (check.version.minor >= each.minor) {
            each.check(check);
        }
    }
}

}  // namespace

std::optional<PodSecurityLevel> pod_security_level(std::string_view name) {
    const auto found = std::ranges::find(level_names, name);
    return found != level_names.end()
               ? std::optional(static_cast<PodSecurityLevel>(found - level_names.begin()))
               : std::nullopt;
}

std::string_view name_of(PodSecurityLevel level) {
    return level_names.at(static_cast<std::size_t>(level));
}

std::string_view name_of(PodSecurityControl control) {
    return control_names.at(static_cast<std::size_t>(control));
}

std::optional<KubernetesVersion> pod_security_version(std::string_view name,
                                                      KubernetesVersion latest) {
    constexpr std::string_view prefix = "v1.";
    if (name == "latest") {
        return latest;
    }
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    const std::string_view digits = name.substr(prefix.size());
    const auto minor = whole_number<unsigned>(digits);
    const bool canonical = digits.size() == 1 || !digits.starts_with('0');
    return minor && canonical ? std::optional(KubernetesVersion{*minor}) : std::nullopt;
}

void PodUnderCheck::add(PodSecurityControl control, std::string pointer, std::string message,
                        std::string hint) const {
    violations.push_back({control, std::move(pointer), std::move(message), std::move(hint)});
}

bool PodUnderCheck::has_user_namespace() const {
    const nlohmann::json& host_users = value_at(pod, {"spec", "hostUsers"});
    return host_users.is_boolean() && !host_users.get<bool>();
}

bool PodUnderCheck::is_for_windows() const {
    return version.minor >= 25 && text_in(pod, {"spec", "os", "name"}) == "windows";
}

std::string title_of(const PodContainer& container) {
    return fmt::format("container \"{}\"", container.name());
}

std::vector<SecurityContext> security_contexts_of(const PodUnderCheck& check) {
    std::vector<SecurityContext> contexts{
        {"the pod", "/spec/securityContext", &value_at(check.pod, {"spec", "securityContext"})}};
    for (const PodContainer& container : check.containers) {
        contexts.push_back({title_of(container), container.pointer + "/securityContext",
                            &value_at(*container.content, {"securityContext"})});
    }
    return contexts;
}

std::vector<PodSecurityViolation> pod_security_violations(const nlohmann::json& pod,
                                                          PodSecurityLevel level,
                                                          KubernetesVersion version) {
    std::vector<PodSecurityViolation> violations;
    if (level == PodSecurityLevel::privileged) {
        return violations;
    }
    const PodUnderCheck check{pod, containers_of(pod), level, version, violations};
    run_controls(controls_of_both, check);
    if (level == PodSecurityLevel::baseline) {
        run_controls(controls_of_baseline, check);
    } else {
        run_controls(controls_of_restricted, check);
    }
    // Before restricted had its own list of capabilities, baseline's was in force.
    if (level == PodSecurityLevel::restricted && version.minor < 22) {
        check_added_capabilities(check);
    }
    return violations;
}

}  // namespace edgegpu
