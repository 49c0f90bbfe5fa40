#include "bundles/checks/pod_structure_check.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/checks/selectors.hpp"
#include "bundles/json_value.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view refused_pod =
    "the API server refuses the object, and MicroShift then holds up this bundle and all after it "
    "for ten minutes";

/// The names of the volumes that a pod has; those that a stateful set makes for it included.
std::set<std::string> volume_names(const PodTemplate& pod) {
    std::set<std::string> names;
    for (const json& volume : items_at(*pod.spec, {"volumes"})) {
        names.insert(text_in(volume, {"name"}));
    }
    const json& content = pod.where.object->content;
    for (const json& claim : items_at(content, {"spec", "volumeClaimTemplates"})) {
        names.insert(text_in(claim, {"metadata", "name"}));
    }
    return names;
}

void check_mounts(const PodTemplate& pod, const PodContainer& container,
                  const std::set<std::string>& volumes, Findings& findings) {
    std::set<std::string> paths;
    for (const auto& [list, path_key] :
         {std::pair<const char*, const char*>{"volumeMounts", "mountPath"},
          {"volumeDevices", "devicePath"}}) {
        const std::vector<json>& mounts = items_at(*container.content, {list});
        for (std::size_t i = 0; i < mounts.size(); ++i) {
            const std::string at = fmt::format("{}/{}/{}", container.pointer, list, i);
            const std::string name = text_in(mounts[i], {"name"});
            const std::string path = text_in(mounts[i], {path_key});
            if (!name.empty() && !volumes.contains(name)) {
                findings.add(pod.where, at + "/name",
                             fmt::format("a mount names the volume \"{}\", which the pod does not "
                                         "have; {}",
                                         name, refused_pod),
                             volumes.empty()
                                 ? "the pod has no volumes"
                                 : fmt::format("its volumes: {}", fmt::join(volumes, ", ")));
            }
            if (!path.empty() && !paths.insert(path).second) {
                findings.add(
                    pod.where, at + '/' + path_key,
                    fmt::format("two mounts of a container are at {}; {}", path, refused_pod),
                    "remove one of them");
            }
        }
    }
}

void check_names(const PodTemplate& pod, const std::vector<PodContainer>& containers,
                 Findings& findings) {
    std::set<std::string> seen;
    for (const PodContainer& container : containers) {
        const std::string name = text_in(*container.content, {"name"});
        if (!name.empty() && !seen.insert(name).second) {
            findings.add(pod.where, container.pointer + "/name",
                         fmt::format("two containers are named \"{}\"; {}", name, refused_pod),
                         "rename one of them");
        }
    }
    seen.clear();
    const std::vector<json>& volumes = items_at(*pod.spec, {"volumes"});
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        const std::string name = text_in(volumes[i], {"name"});
        if (!name.empty() && !seen.insert(name).second) {
            findings.add(pod.where, fmt::format("{}/volumes/{}/name", pod.pointer, i),
                         fmt::format("two volumes are named \"{}\"; {}", name, refused_pod),
                         "rename one of them");
        }
    }
}

/// Workloads whose pods have to have the labels of their selector.
void check_own_selector(const PodTemplate& pod, Findings& findings) {
    static constexpr std::array<std::string_view, 4> kinds{"DaemonSet", "Deployment", "ReplicaSet",
                                                           "StatefulSet"};
    const KubeObject& object = *pod.where.object;
    const json& selector = value_at(object.content, {"spec", "selector"});
    if (!selector.is_object()) {
        return;
    }
    const bool plain = object.kind == "ReplicationController";
    const bool known_kind = std::ranges::find(kinds, object.kind) != kinds.end();
    const json::object_t& labels = labels_of(pod);
    if ((plain && !have_labels(labels, selector)) ||
        (known_kind && !satisfy_selector(labels, selector))) {
        findings.add(pod.where, "/spec/selector",
                     fmt::format("the selector does not match the labels of its own pod template; "
                                 "{}",
                                 refused_pod),
                     "give spec.template.metadata.labels every label of spec.selector");
    }
}

}  // namespace

void check_pod_structure(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                         Findings& findings) {
    for (const PodTemplate& pod : pods) {
        if (known.is_custom(*pod.where.object)) {
            continue;
        }
        const std::set<std::string> volumes = volume_names(pod);
        const std::vector<PodContainer> containers = containers_of(pod);
        for (const PodContainer& container : containers) {
            check_mounts(pod, container, volumes, findings);
        }
        check_names(pod, containers, findings);
        check_own_selector(pod, findings);
    }
}

}  // namespace edgegpu
