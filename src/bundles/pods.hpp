#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundles/json_value.hpp"
#include "bundles/render.hpp"

namespace edgegpu {

/// The pods that an object describes: a Pod itself, or the template of a workload. Custom resources
/// that hold templates are included.
struct PodTemplate {
    /// `bundle` is null if the walk was over the objects alone.
    BundleObject where;
    /// JSON pointer to `spec` in the object: "/spec/template/spec", "/spec" of a Pod.
    std::string pointer;
    /// The pod's specification: the mapping that has "containers".
    const nlohmann::json* spec = nullptr;
    /// The mapping beside it with the pod's labels and annotations; JSON's null if there is none.
    const nlohmann::json* metadata = nullptr;
    /// How many run at once; one for a DaemonSet, as each device has one. 0 if it is scaled to 0.
    std::uint64_t count = 1;
};

/// A key as a step of a JSON pointer (RFC 6901): "nvidia.com~1gpu".
[[nodiscard]] std::string pointer_step(std::string_view key);

/// Whether an object is a Pod or a workload of Kubernetes itself, whose pods are what its template
/// says. What becomes of a custom resource only its controller knows.
[[nodiscard]] bool is_workload(const KubeObject& object);

/// The pods of all objects, in their order. They refer to the objects.
[[nodiscard]] std::vector<PodTemplate> pods_of(const std::vector<BundleObject>& objects);
[[nodiscard]] std::vector<PodTemplate> pods_of(const std::vector<KubeObject>& objects);

/// A container of a pod.
struct PodContainer {
    /// "containers", "initContainers" or "ephemeralContainers"
    std::string list;
    /// JSON pointer to it in the object
    std::string pointer;
    const nlohmann::json* content = nullptr;

    [[nodiscard]] std::string name() const { return text_in(*content, {"name"}); }
};

/// All containers of a pod: init containers first, then containers, then ephemeral ones. They refer
/// to it.
[[nodiscard]] std::vector<PodContainer> containers_of(const PodTemplate& pod);
/// The same of an object with `spec`; pointers begin at it.
[[nodiscard]] std::vector<PodContainer> containers_of(const nlohmann::json& pod);

/// The keys of the sources that a volume has; one, unless something is wrong.
[[nodiscard]] std::vector<std::string> sources_of_volume(const nlohmann::json& volume);

/// An image that a pod needs.
struct PodImage {
    /// JSON pointer to the name in the object
    std::string pointer;
    /// "quay.io/x/app:1"
    std::string name;
    /// The container that runs it; null for the image of a volume.
    const nlohmann::json* container = nullptr;
};

/// The images of a pod's containers and volumes, as far as they have a name.
[[nodiscard]] std::vector<PodImage> images_of(const PodTemplate& pod);

/// The images of all pods that the objects describe, sorted, each once.
[[nodiscard]] std::vector<std::string> images_of(const std::vector<KubeObject>& objects);

/// The amount that a quantity of Kubernetes stands for ("2", "2k", "2000m", "2e0"), at most a
/// million; nothing if it is no whole number, negative or no quantity.
[[nodiscard]] std::optional<std::uint64_t> whole_quantity(std::string_view text);

/// What one pod of a template wants of extended resources: "nvidia.com/gpu" → 2. Containers run
/// together, init containers before them one after the other, those with `restartPolicy: Always`
/// beside all that come after.
[[nodiscard]] std::map<std::string, std::uint64_t> extended_resources_of(const PodTemplate& pod);

/// What the pods of all objects want together. Replicas and a job's parallel pods count each; a pod
/// of a DaemonSet counts once, as there is one per device.
[[nodiscard]] std::map<std::string, std::uint64_t> extended_resources_of(
    const std::vector<KubeObject>& objects);

}  // namespace edgegpu
