// What the level restricted adds to baseline, or has in its place.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/privileges/pod_security_checks.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> restricted_volumes{
    "configMap", "csi",   "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
    "projected", "secret"};

bool drops_all(const json& container) {
    const std::vector<std::string> dropped =
        texts_at(container, {"securityContext", "capabilities", "drop"});
    return std::ranges::find(dropped, "ALL") != dropped.end();
}

bool is_false(const json& value) {
    return value.is_boolean() && !value.get<bool>();
}

/// "securityContext.seccompProfile" is something that a container has or inherits from the pod.
bool pod_has_good_seccomp(const PodUnderCheck& check) {
    const std::string type =
        text_in(check.pod, {"spec", "securityContext", "seccompProfile", "type"});
    return type == "RuntimeDefault" || type == "Localhost";
}

}  // namespace

void check_restricted_capabilities(const PodUnderCheck& check) {
    if (check.is_for_windows()) {
        return;
    }
    for (const PodContainer& container : check.containers) {
        const std::string pointer = container.pointer + "/securityContext/capabilities";
        if (!drops_all(*container.content)) {
            check.add(PodSecurityControl::capabilities, pointer + "/drop",
                      fmt::format("{} does not drop all capabilities", title_of(container)),
                      "set capabilities: {drop: [ALL]} in its securityContext");
        }
        std::size_t index = 0;
        for (const json& item :
             items_at(*container.content, {"securityContext", "capabilities", "add"})) {
            const std::size_t at = index++;
            if (item != "NET_BIND_SERVICE") {
                const std::string name = item.is_string() ? item.get<std::string>() : "";
                check.add(PodSecurityControl::capabilities, fmt::format("{}/add/{}", pointer, at),
                          fmt::format("{} adds the capability {}", title_of(container), name),
                          fmt::format("do not add {}", name));
            }
        }
    }
}

void check_volume_types(const PodUnderCheck& check) {
    std::size_t index = 0;
    for (const json& volume : items_at(check.pod, {"spec", "volumes"})) {
        const std::size_t at = index++;
        const std::vector<std::string> sources = sources_of_volume(volume);
        const bool allowed = std::ranges::any_of(sources, [](const std::string& source) {
            return std::ranges::find(restricted_volumes, source) != restricted_volumes.end();
        });
        if (!allowed) {
            const std::string type = sources.empty() ? "unknown type" : sources.front();
            check.add(
                PodSecurityControl::volume_types,
                fmt::format("/spec/volumes/{}{}", at, sources.empty() ? "" : '/' + sources.front()),
                fmt::format("volume \"{}\" is of the type {}", text_in(volume, {"name"}), type),
                "use a persistentVolumeClaim or an emptyDir");
        }
    }
}

void check_privilege_escalation(const PodUnderCheck& check) {
    if (check.is_for_windows()) {
        return;
    }
    for (const PodContainer& container : check.containers) {
        const json& value =
            value_at(*container.content, {"securityContext", "allowPrivilegeEscalation"});
        if (!is_false(value)) {
            check.add(PodSecurityControl::privilege_escalation,
                      container.pointer + "/securityContext/allowPrivilegeEscalation",
                      fmt::format("{} may gain privileges (allowPrivilegeEscalation)",
                                  title_of(container)),
                      "set allowPrivilegeEscalation: false in its securityContext");
        }
    }
}

void check_required_seccomp(const PodUnderCheck& check) {
    if (check.is_for_windows()) {
        return;
    }
    check_seccomp_type(check);
    if (pod_has_good_seccomp(check)) {
        return;
    }
    for (const PodContainer& container : check.containers) {
        if (value_at(*container.content, {"securityContext", "seccompProfile"}).is_null()) {
            check.add(PodSecurityControl::seccomp,
                      container.pointer + "/securityContext/seccompProfile",
                      fmt::format("{} has no seccomp profile", title_of(container)),
                      "set seccompProfile: {type: RuntimeDefault} in the pod's securityContext");
        }
    }
}

void check_run_as_non_root(const PodUnderCheck& check) {
    if (check.version.minor >= 35 && check.has_user_namespace()) {
        return;
    }
    constexpr std::string_view hint = "set runAsNonRoot: true in the pod's securityContext";
    const std::vector<SecurityContext> contexts = security_contexts_of(check);
    const json& of_pod = value_at(*contexts.front().content, {"runAsNonRoot"});
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        const json& value = value_at(*contexts[i].content, {"runAsNonRoot"});
        const std::string pointer = contexts[i].pointer + "/runAsNonRoot";
        if (is_false(value)) {
            check.add(PodSecurityControl::run_as_non_root, pointer,
                      fmt::format("{} sets runAsNonRoot: false", contexts[i].owner),
                      std::string(hint));
        } else if (i > 0 && value.is_null() && of_pod != true) {
            check.add(PodSecurityControl::run_as_non_root, pointer,
                      fmt::format("{} may run as root", contexts[i].owner), std::string(hint));
        }
    }
}

void check_run_as_user(const PodUnderCheck& check) {
    if (check.version.minor >= 35 && check.has_user_namespace()) {
        return;
    }
    for (const SecurityContext& context : security_contexts_of(check)) {
        const json& user = value_at(*context.content, {"runAsUser"});
        if (user.is_number() && user == 0) {
            check.add(PodSecurityControl::run_as_user, context.pointer + "/runAsUser",
                      fmt::format("{} runs as root (runAsUser: 0)", context.owner),
                      "drop runAsUser, or use another user of the image");
        }
    }
}

}  // namespace edgegpu
