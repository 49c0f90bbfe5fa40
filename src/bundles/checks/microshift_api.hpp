#pragma once

#include <string_view>
#include <vector>

namespace edgegpu {

/// An API group that MicroShift or one of its optional packages defines, as openshift/microshift
/// does in its assets and its RPM specification.
struct MicroshiftGroup {
    std::string_view group;
    /// The package that brings it; empty: MicroShift itself.
    std::string_view package;
    /// Its kinds; none: any, as those of most optional packages change between versions.
    std::vector<std::string_view> kinds;
};

/// All of them; several entries for a group that several packages bring.
[[nodiscard]] const std::vector<MicroshiftGroup>& microshift_groups();

/// A namespace that MicroShift, or an optional package of it, creates.
struct MicroshiftNamespace {
    std::string_view name;
    /// Empty: MicroShift itself, or Kubernetes.
    std::string_view package;
};

/// All of them; several entries for a namespace that several packages bring.
[[nodiscard]] const std::vector<MicroshiftNamespace>& microshift_namespaces();

/// Whether Kubernetes or MicroShift has a cluster role of this name, or may have with one of its
/// optional packages.
[[nodiscard]] bool is_builtin_cluster_role(std::string_view name);

/// The same of PriorityClasses.
[[nodiscard]] bool is_builtin_priority_class(std::string_view name);

/// Whether the name of a StorageClass is one that MicroShift's LVMS makes.
[[nodiscard]] bool is_builtin_storage_class(std::string_view name);

}  // namespace edgegpu
