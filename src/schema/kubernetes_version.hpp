#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// A minor version of Kubernetes 1: its API, and so the fields of its objects, change with no
/// other.
struct KubernetesVersion {
    /// 33 of 1.33
    unsigned minor = 0;

    /// "1.33"
    [[nodiscard]] std::string text() const;
    bool operator==(const KubernetesVersion&) const = default;
};

/// The Kubernetes that a version of MicroShift 4 carries ("4.18.5", "4.18" or an RPM's
/// "4.18.5-202503121212.p0.el9"): MicroShift follows OpenShift, whose 4.N is Kubernetes 1.(N+13).
/// Nothing for another major version, whose numbers follow no known rule, and for other text.
[[nodiscard]] std::optional<KubernetesVersion> kubernetes_of_microshift(std::string_view version);

}  // namespace edgegpu
