#include "bundles/description.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "bundles/roles.hpp"
#include "oci/reference.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// "25.02" of "nvcr.io/nvidia/tensorflow:25.02-tf2-py3", "cuda12.5.0" of "vectoradd-cuda12.5.0":
/// the first part of the tag with a number, or else the tag; empty without tag.
std::string version_in(std::string_view image) {
    const std::string_view tag = parts_of_image_name(image).tag.value_or("");
    for (const std::string_view part : split(tag, '-')) {
        if (part.find_first_of("0123456789") != std::string_view::npos) {
            return std::string(part);
        }
    }
    return std::string(tag);
}

/// What a container or a pod says of the user that it runs as; empty if nothing.
std::string user_of(const json& pod, const json& container) {
    const std::string own = text_in(container, {"securityContext", "runAsUser"});
    return !own.empty() ? own : text_in(pod, {"securityContext", "runAsUser"});
}

void add_privileges_of_pod(const PodTemplate& pod, std::set<std::string>& flags,
                           std::set<std::string>& capabilities) {
    const json& spec = *pod.spec;
    for (const char* key : {"hostNetwork", "hostPID", "hostIPC"}) {
        if (is_true_at(spec, {key})) {
            flags.insert(key);
        }
    }
    for (const json& volume : items_at(spec, {"volumes"})) {
        if (!value_at(volume, {"hostPath"}).is_null()) {
            flags.insert("hostPath");
        }
    }
    for (const PodContainer& container : containers_of(pod)) {
        if (is_true_at(*container.content, {"securityContext", "privileged"})) {
            flags.insert("privileged");
        }
        if (user_of(spec, *container.content) == "0") {
            flags.insert("root");
        }
        for (const json& each :
             items_at(*container.content, {"securityContext", "capabilities", "add"})) {
            capabilities.insert("capability " + text_of(each));
        }
    }
}

/// SCCs that a role allows the use of.
void add_constraints_of_role(const AccessRole& role, std::set<std::string>& constraints) {
    for (const RoleRule& rule : role.rules) {
        if (!rule.covers("security.openshift.io", "securitycontextconstraints", {"use"})) {
            continue;
        }
        for (const std::string& name : rule.names) {
            constraints.insert("SCC " + name);
        }
        if (rule.names.empty()) {
            constraints.insert("every SCC");
        }
    }
}

/// What a binding gives by the name of a role that exists without the bundle.
void add_constraints_of_binding(const AccessBinding& binding, std::set<std::string>& constraints) {
    constexpr std::string_view prefix = "system:openshift:scc:";
    const std::string& role = binding.role_name;
    if (role == "cluster-admin") {
        constraints.insert(role);
    } else if (role.starts_with(prefix)) {
        constraints.insert("SCC " + role.substr(prefix.size()));
    }
}

}  // namespace

std::vector<std::string> versions_of(const std::vector<KubeObject>& objects) {
    std::set<std::string> labels;
    std::set<std::string> tags;
    for (const PodTemplate& pod : pods_of(objects)) {
        const KubeObject& object = *pod.where.object;
        std::string label =
            text_in(object.content, {"metadata", "labels", "app.kubernetes.io/version"});
        if (label.empty()) {
            label = text_in(*pod.metadata, {"labels", "app.kubernetes.io/version"});
        }
        if (!label.empty()) {
            labels.insert(std::move(label));
        }
        for (const PodImage& image : images_of(pod)) {
            if (std::string tag = version_in(image.name); !tag.empty()) {
                tags.insert(std::move(tag));
            }
        }
    }
    const std::set<std::string>& versions = labels.empty() ? tags : labels;
    return {versions.begin(), versions.end()};
}

std::vector<std::string> privileges_of(const std::vector<KubeObject>& objects) {
    std::set<std::string> flags;
    std::set<std::string> capabilities;
    std::set<std::string> constraints;
    for (const PodTemplate& pod : pods_of(objects)) {
        add_privileges_of_pod(pod, flags, capabilities);
    }
    AccessObjects access;
    for (const KubeObject& object : objects) {
        access.add(object);
    }
    for (const AccessRole& role : access.roles) {
        add_constraints_of_role(role, constraints);
    }
    for (const AccessBinding& binding : access.bindings) {
        add_constraints_of_binding(binding, constraints);
    }
    std::vector<std::string> privileges;
    for (const char* flag :
         {"privileged", "hostNetwork", "hostPID", "hostIPC", "hostPath", "root"}) {
        if (flags.contains(flag)) {
            privileges.emplace_back(flag);
        }
    }
    privileges.insert(privileges.end(), capabilities.begin(), capabilities.end());
    privileges.insert(privileges.end(), constraints.begin(), constraints.end());
    return privileges;
}

}  // namespace edgegpu
