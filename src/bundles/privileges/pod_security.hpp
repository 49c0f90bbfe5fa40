#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// The levels of Kubernetes' Pod Security Standards
/// (https://kubernetes.io/docs/concepts/security/pod-security-standards/), from the widest.
enum class PodSecurityLevel : std::uint8_t { privileged, baseline, restricted };

/// The level that a label of a namespace names; nothing for other text.
[[nodiscard]] std::optional<PodSecurityLevel> pod_security_level(std::string_view name);

/// "baseline"
[[nodiscard]] std::string_view name_of(PodSecurityLevel level);

/// The version of the standard that a label names ("v1.31"); `latest` for "latest". Nothing for
/// other text.
[[nodiscard]] std::optional<KubernetesVersion> pod_security_version(std::string_view name,
                                                                    KubernetesVersion latest);

/// The controls of the standard. Baseline's come first.
enum class PodSecurityControl : std::uint8_t {
    host_namespaces,
    privileged,
    capabilities,
    host_path_volumes,
    host_ports,
    host_probes,
    app_armor,
    selinux_options,
    proc_mount,
    seccomp,
    sysctls,
    windows_host_process,
    volume_types,
    privilege_escalation,
    run_as_non_root,
    run_as_user
};

/// "hostNamespaces"
[[nodiscard]] std::string_view name_of(PodSecurityControl control);

/// Something in a pod that a level does not admit.
struct PodSecurityViolation {
    PodSecurityControl control = PodSecurityControl::privileged;
    /// JSON pointer (RFC 6901) from the object that has the pod's metadata and spec, to what is
    /// wrong or to where something is missing: "/spec/containers/0/securityContext/privileged"
    std::string pointer;
    /// "container \"a\" is privileged"
    std::string message;
    /// What to do: "drop privileged"
    std::string hint;
};

/// What `level` does not admit, as of a version of the standard from v1.25 on (older ones are read
/// as they were for fields, not for the annotations that these had in place of fields). `pod` has
/// `metadata` and `spec` of a pod, with the defaults of the API server where they matter: a volume
/// without source is an emptyDir. Of containers, the init containers come first.
[[nodiscard]] std::vector<PodSecurityViolation> pod_security_violations(const nlohmann::json& pod,
                                                                        PodSecurityLevel level,
                                                                        KubernetesVersion version);

}  // namespace edgegpu
