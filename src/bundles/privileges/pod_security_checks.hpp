#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bundles/pods.hpp"
#include "bundles/privileges/pod_security.hpp"

namespace edgegpu {

/// A pod while it is checked: what the checks of single controls read and add to.
struct PodUnderCheck {
    const nlohmann::json& pod;
    std::vector<PodContainer> containers;
    PodSecurityLevel level;
    /// of the standard
    KubernetesVersion version;
    std::vector<PodSecurityViolation>& violations;

    /// Adds a violation.
    void add(PodSecurityControl control, std::string pointer, std::string message,
             std::string hint) const;
    /// The pod has a user namespace of its own: its root is nobody on the host.
    [[nodiscard]] bool has_user_namespace() const;
    /// It is for Windows, where restricted does not ask for what Linux alone has.
    [[nodiscard]] bool is_for_windows() const;
};

/// A security context of the pod or of a container.
struct SecurityContext {
    /// "the pod", "container \"a\""
    std::string owner;
    /// to the context itself
    std::string pointer;
    const nlohmann::json* content = nullptr;
};

/// The pod's context, then those of the containers; what has none has null as content.
[[nodiscard]] std::vector<SecurityContext> security_contexts_of(const PodUnderCheck& check);

/// "container \"a\""
[[nodiscard]] std::string title_of(const PodContainer& container);

// The controls of the level baseline. Restricted has stronger ones in place of capabilities, of
// host path volumes, of seccomp and (from v1.35 on) of proc mounts.
void check_host_namespaces(const PodUnderCheck& check);
void check_privileged(const PodUnderCheck& check);
void check_added_capabilities(const PodUnderCheck& check);
void check_host_path_volumes(const PodUnderCheck& check);
void check_host_ports(const PodUnderCheck& check);
void check_host_probes(const PodUnderCheck& check);
void check_app_armor(const PodUnderCheck& check);
void check_selinux_options(const PodUnderCheck& check);
void check_proc_mount(const PodUnderCheck& check);
void check_seccomp_type(const PodUnderCheck& check);
void check_sysctls(const PodUnderCheck& check);
void check_windows_host_process(const PodUnderCheck& check);

// The controls that restricted adds, or has in place of baseline's.
void check_restricted_capabilities(const PodUnderCheck& check);
void check_volume_types(const PodUnderCheck& check);
void check_privilege_escalation(const PodUnderCheck& check);
void check_required_seccomp(const PodUnderCheck& check);
void check_run_as_non_root(const PodUnderCheck& check);
void check_run_as_user(const PodUnderCheck& check);

}  // namespace edgegpu
