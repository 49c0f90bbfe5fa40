#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bundles/checks/findings.hpp"

namespace edgegpu {

/// The pods that an object describes: a Pod itself, or the template of a workload. Custom resources
/// that hold templates are included.
struct PodTemplate {
    BundleObject where;
    /// JSON pointer to `spec` in the object: "/spec/template/spec", "/spec" of a Pod.
    std::string pointer;
    /// The pod's specification: the mapping that has "containers".
    const YamlNode* spec = nullptr;
    /// The mapping beside it with the pod's labels and annotations; null if there is none.
    const YamlNode* metadata = nullptr;
    /// How many run at once; one for a DaemonSet, as each device has one. 0 if it is scaled to 0.
    std::uint64_t count = 1;
};

/// The pods of all objects, in their order. They refer to the objects.
[[nodiscard]] std::vector<PodTemplate> pods_of(const std::vector<BundleObject>& objects);

/// A container of a pod.
struct PodContainer {
    /// "containers", "initContainers" or "ephemeralContainers"
    std::string list;
    /// JSON pointer to it in the object
    std::string pointer;
    const YamlNode* content = nullptr;
};

/// All containers of a pod: init containers first, then containers, then ephemeral ones.
[[nodiscard]] std::vector<PodContainer> containers_of(const PodTemplate& pod);

}  // namespace edgegpu
