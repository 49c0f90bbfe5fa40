// What the pod and its containers have in common, and the containers.
#include "bundles/privileges/scc_parts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "bundles/json_value.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view seccomp_of_container = "container.seccomp.security.alpha.kubernetes.io/";

/// A container's field, or the pod's where the container says nothing.
const json& effective(const json& pod, const json& container, std::string_view field) {
    const json& own = value_at(container, {"securityContext", field});
    return own.is_null() ? value_at(pod, {"spec", "securityContext", field}) : own;
}

bool allows_profile(const Scc& scc, const std::string& profile) {
    const auto is_default = [](const std::string& name) {
        return name == "runtime/default" || name == "docker/default";
    };
    if (scc.seccomp.empty()) {
        return profile.empty();
    }
    return std::ranges::any_of(scc.seccomp, [&](const std::string& each) {
        return each == "*" || each == profile || (is_default(each) && is_default(profile));
    });
}

/// Whether it can be the namespace's level.
bool is_level_of(const NamespaceIds& ids, const json& scc_options, std::string_view level) {
    const std::string own = text_in(scc_options, {"level"});
    if (!own.empty() || ids.selinux_level) {
        // The order of the categories does not matter.
        const std::string& wanted = own.empty() ? *ids.selinux_level : own;
        return std::is_permutation(level.begin(), level.end(), wanted.begin(), wanted.end());
    }
    return level.find(':') != std::string_view::npos;
}

void apply_user(SccAdmission& admission, const PodContainer& container, json& made) {
    const Scc& scc = admission.scc;
    const json& own = value_at(*container.content, {"securityContext", "runAsUser"});
    const std::string pointer = (own.is_null() ? "/spec" : container.pointer) + "/securityContext/";
    const std::string title = fmt::format("container \"{}\"", container.name());
    const json& asked = effective(admission.pod, *container.content, "runAsUser");
    const json& non_root = effective(admission.pod, *container.content, "runAsNonRoot");
    const SccIdRange range = scc.user == UserRule::must_run_as
                                 ? SccIdRange{scc.uid, scc.uid}
                                 : scc.uids.value_or(admission.ids.users);
    std::optional<std::int64_t> uid;
    if (asked.is_number_integer()) {
        uid = asked.get<std::int64_t>();
    }
    const bool ranged = scc.user == UserRule::range || scc.user == UserRule::must_run_as;
    if (!uid && ranged) {
        uid = range.first;
        made["runAsUser"] = range.first;
    } else if (uid && ranged && !range.has(*uid)) {
        admission.add(pointer + "runAsUser",
                      fmt::format("{} runs as user {}, outside of {}", title, *uid,
                                  scc.uids || scc.user == UserRule::must_run_as
                                      ? fmt::format("{} to {}", range.first, range.last)
                                      : std::string("the namespace's range")),
                      "drop runAsUser: a user of the namespace's range is the default");
    }
    if (scc.user == UserRule::non_root && uid == 0) {
        admission.add(pointer + "runAsUser", fmt::format("{} runs as root", title),
                      "run as another user");
    }
    if (scc.user == UserRule::non_root && non_root == false) {
        admission.add(container.pointer + "/securityContext/runAsNonRoot",
                      fmt::format("{} may run as root", title), "set runAsNonRoot: true");
    }
    if (non_root.is_null() && (uid ? *uid > 0 : scc.user == UserRule::non_root)) {
        made["runAsNonRoot"] = true;
    }
}

void apply_capabilities(SccAdmission& admission, const PodContainer& container, json& made) {
    const Scc& scc = admission.scc;
    const json& own = value_at(*container.content, {"securityContext", "capabilities"});
    const std::vector<std::string> unwanted = texts_at(own, {"drop"});
    std::set<std::string> dropped = scc.dropped_capabilities;
    dropped.insert(unwanted.begin(), unwanted.end());
    // In the order of the file, so that places in the list stay true.
    const std::vector<std::string> asked = texts_at(own, {"add"});
    std::vector<std::string> added = asked;
    for (const std::string& name : scc.default_capabilities) {
        if (std::ranges::find(unwanted, name) == unwanted.end()) {
            added.push_back(name);
        }
    }
    if (!dropped.empty() || !added.empty()) {
        made["capabilities"] = {{"add", added}, {"drop", dropped}};
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (!scc.allowed_capabilities.contains("*") &&
            !scc.allowed_capabilities.contains(asked[i]) &&
            !scc.default_capabilities.contains(asked[i])) {
            admission.add(
                fmt::format("{}/securityContext/capabilities/add/{}", container.pointer, i),
                fmt::format("container \"{}\" adds the capability {}", container.name(), asked[i]),
                fmt::format("do not add {}", asked[i]));
        }
    }
}

void apply_flags(SccAdmission& admission, const PodContainer& container, json& made) {
    const Scc& scc = admission.scc;
    const std::string title = fmt::format("container \"{}\"", container.name());
    const std::string pointer = container.pointer + "/securityContext/";
    const bool privileged = is_true_at(*container.content, {"securityContext", "privileged"});
    if (privileged && !scc.allows_privileged) {
        admission.add(pointer + "privileged", fmt::format("{} is privileged", title),
                      "drop privileged");
    }
    if (scc.read_only_root) {
        if (value_at(made, {"readOnlyRootFilesystem"}).is_null()) {
            made["readOnlyRootFilesystem"] = true;
        } else if (!is_true_at(made, {"readOnlyRootFilesystem"})) {
            admission.add(pointer + "readOnlyRootFilesystem",
                          fmt::format("{} writes to its root file system", title),
                          "set readOnlyRootFilesystem: true");
        }
    }
    if (value_at(made, {"allowPrivilegeEscalation"}).is_null()) {
        if (scc.default_escalation && !privileged) {
            made["allowPrivilegeEscalation"] = *scc.default_escalation;
        } else if (!scc.allows_escalation) {
            made["allowPrivilegeEscalation"] = false;
        }
    }
    if (!scc.allows_escalation && is_true_at(made, {"allowPrivilegeEscalation"})) {
        admission.add(pointer + "allowPrivilegeEscalation",
                      fmt::format("{} asks for allowPrivilegeEscalation", title),
                      "set allowPrivilegeEscalation: false");
    }
}

void check_ports(SccAdmission& admission, const PodContainer& container) {
    std::size_t index = 0;
    // With the host's network every port is the host's; where that is not allowed, it is said.
    const bool implied =
        admission.scc.allows_host_network && is_true_at(admission.pod, {"spec", "hostNetwork"});
    for (const json& port : items_at(*container.content, {"ports"})) {
        const std::size_t at = index++;
        const json& number = value_at(port, {"hostPort"});
        const bool asked = number.is_number_integer() && number.get<std::int64_t>() > 0;
        if (!admission.scc.allows_host_ports && (asked || implied)) {
            admission.add(
                fmt::format("{}/ports/{}/hostPort", container.pointer, at),
                fmt::format("container \"{}\" takes a port of the host", container.name()),
                "drop hostPort, and let a Service publish the port");
        }
    }
}

}  // namespace

void SccAdmission::add(std::string pointer, std::string message, std::string hint) {
    verdict.problems.push_back({std::move(pointer), std::move(message), std::move(hint)});
}

json& member(json& object, const char* key) {
    json& value = object[key];
    if (!value.is_object()) {
        value = json::object();
    }
    return value;
}

std::string profile_of(const json& field) {
    const std::string type = text_in(field, {"type"});
    if (type == "Unconfined") {
        return "unconfined";
    }
    if (type == "RuntimeDefault") {
        return "runtime/default";
    }
    const std::string file = text_in(field, {"localhostProfile"});
    return type == "Localhost" && !file.empty() ? "localhost/" + file : "";
}

void check_profile(SccAdmission& admission, const std::string& owner, const std::string& pointer,
                   const std::string& profile) {
    if (!allows_profile(admission.scc, profile)) {
        admission.add(pointer,
                      profile.empty()
                          ? fmt::format("{} has no seccomp profile", owner)
                          : fmt::format("{} has the seccomp profile \"{}\"", owner, profile),
                      admission.scc.seccomp.empty() ? "drop seccompProfile"
                                                    : "use the seccomp profile RuntimeDefault");
    }
}

void check_selinux(SccAdmission& admission, const std::string& owner, const std::string& pointer,
                   const json& options) {
    const Scc& scc = admission.scc;
    if (scc.any_selinux || options.is_null()) {
        return;
    }
    for (const char* field : {"type", "role", "user"}) {
        const std::string value = text_in(options, {field});
        if (value != text_in(scc.selinux_options, {field})) {
            admission.add(fmt::format("{}/{}", pointer, field),
                          fmt::format("{} sets the SELinux {} \"{}\"", owner, field, value),
                          "drop seLinuxOptions");
            return;
        }
    }
    const std::string level = text_in(options, {"level"});
    if (!is_level_of(admission.ids, scc.selinux_options, level)) {
        admission.add(
            pointer + "/level",
            fmt::format("{} has the SELinux level \"{}\", not the namespace's", owner, level),
            "drop seLinuxOptions: the namespace's level is the default");
    }
}

void apply_container(SccAdmission& admission, const PodContainer& container) {
    json& made =
        member(admission.verdict.pod.at(json::json_pointer(container.pointer)), "securityContext");
    apply_user(admission, container, made);
    apply_capabilities(admission, container, made);
    apply_flags(admission, container, made);
    check_ports(admission, container);
    const std::string pointer = container.pointer + "/securityContext";
    const std::string title = fmt::format("container \"{}\"", container.name());
    check_selinux(admission, title, pointer + "/seLinuxOptions",
                  value_at(*container.content, {"securityContext", "seLinuxOptions"}));
    const json& profile = value_at(*container.content, {"securityContext", "seccompProfile"});
    const std::string annotated = text_in(
        admission.pod,
        {"metadata", "annotations", fmt::format("{}{}", seccomp_of_container, container.name())});
    if (!profile.is_null() || !annotated.empty()) {
        check_profile(admission, title, pointer + "/seccompProfile",
                      profile.is_null() ? annotated : profile_of(profile));
    }
}

}  // namespace edgegpu
