// The controls of the level baseline; those that restricted has as well are here, too.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/json_value.hpp"
#include "bundles/privileges/pod_security_checks.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// What a container may add: what engines give to containers by default.
constexpr std::array<std::string_view, 13> default_capabilities{
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};

struct SafeSysctl {
    unsigned since;
    std::string_view name;
};

constexpr std::array<SafeSysctl, 14> safe_sysctls{{{0, "kernel.shm_rmid_forced"},
                                                   {0, "net.ipv4.ip_local_port_range"},
                                                   {0, "net.ipv4.tcp_syncookies"},
                                                   {0, "net.ipv4.ping_group_range"},
                                                   {0, "net.ipv4.ip_unprivileged_port_start"},
                                                   {27, "net.ipv4.ip_local_reserved_ports"},
                                                   {29, "net.ipv4.tcp_keepalive_time"},
                                                   {29, "net.ipv4.tcp_fin_timeout"},
                                                   {29, "net.ipv4.tcp_keepalive_intvl"},
                                                   {29, "net.ipv4.tcp_keepalive_probes"},
                                                   {32, "net.ipv4.tcp_rmem"},
                                                   {32, "net.ipv4.tcp_wmem"},
                                                   {37, "net.ipv4.tcp_slow_start_after_idle"},
                                                   {37, "net.ipv4.tcp_notsent_lowat"}}};

struct ContainerType {
    unsigned since;
    std::string_view name;
};

constexpr std::array<ContainerType, 5> selinux_types{{{0, ""},
                                                      {0, "container_t"},
                                                      {0, "container_init_t"},
                                                      {0, "container_kvm_t"},
                                                      {31, "container_engine_t"}}};

template <typename Table>
bool has_since(const Table& table, std::string_view name, KubernetesVersion version) {
    return std::ranges::any_of(
        table, [&](const auto& each) { return each.name == name && version.minor >= each.since; });
}

/// The hosts that a probe or a handler names.
void check_handler(const PodUnderCheck& check, const PodContainer& container,
                   std::initializer_list<std::string_view> path) {
    const json& handler = value_at(*container.content, path);
    for (const char* action : {"httpGet", "tcpSocket"}) {
        const std::string host = text_in(handler, {action, "host"});
        if (!host.empty()) {
            check.add(
                PodSecurityControl::host_probes,
                fmt::format("{}/{}/{}/host", container.pointer, fmt::join(path, "/"), action),
                fmt::format("{} is probed at another host, \"{}\"", title_of(container), host),
                "leave out \"host\": the pod's own address is the default");
        }
    }
}

}  // namespace

void check_host_namespaces(const PodUnderCheck& check) {
    for (const char* field : {"hostNetwork", "hostPID", "hostIPC"}) {
        if (is_true_at(check.pod, {"spec", field})) {
            check.add(PodSecurityControl::host_namespaces, fmt::format("/spec/{}", field),
                      fmt::format("the pod asks for {}", field), fmt::format("drop {}", field));
        }
    }
}

void check_privileged(const PodUnderCheck& check) {
    for (const PodContainer& container : check.containers) {
        if (is_true_at(*container.content, {"securityContext", "privileged"})) {
            check.add(PodSecurityControl::privileged,
                      container.pointer + "/securityContext/privileged",
                      fmt::format("{} is privileged", title_of(container)), "drop privileged");
        }
    }
}

void check_added_capabilities(const PodUnderCheck& check) {
    for (const PodContainer& container : check.containers) {
        std::size_t index = 0;
        for (const json& item :
             items_at(*container.content, {"securityContext", "capabilities", "add"})) {
            const std::string name = item.is_string() ? item.get<std::string>() : "";
            const std::size_t at = index++;
            if (std::ranges::find(default_capabilities, name) == default_capabilities.end()) {
                check.add(
                    PodSecurityControl::capabilities,
                    fmt::format("{}/securityContext/capabilities/add/{}", container.pointer, at),
                    fmt::format("{} adds the capability {}", title_of(container), name),
                    fmt::format("do not add {}", name));
            }
        }
    }
}

void check_host_path_volumes(const PodUnderCheck& check) {
    std::size_t index = 0;
    for (const json& volume : items_at(check.pod, {"spec", "volumes"})) {
        const std::size_t at = index++;
        if (!value_at(volume, {"hostPath"}).is_null()) {
            check.add(PodSecurityControl::host_path_volumes,
                      fmt::format("/spec/volumes/{}/hostPath", at),
                      fmt::format("volume \"{}\" is a path of the host", text_in(volume, {"name"})),
                      "use another kind of volume");
        }
    }
}

void check_host_ports(const PodUnderCheck& check) {
    for (const PodContainer& container : check.containers) {
        std::size_t index = 0;
        for (const json& port : items_at(*container.content, {"ports"})) {
            const std::size_t at = index++;
            const json& number = value_at(port, {"hostPort"});
            if (number.is_number() && number != 0) {
                check.add(
                    PodSecurityControl::host_ports,
                    fmt::format("{}/ports/{}/hostPort", container.pointer, at),
                    fmt::format("{} takes port {} of the host", title_of(container), number.dump()),
                    "drop hostPort, and let a Service publish the port");
            }
        }
    }
}

void check_host_probes(const PodUnderCheck& check) {
    for (const PodContainer& container : check.containers) {
        check_handler(check, container, {"livenessProbe"});
        check_handler(check, container, {"readinessProbe"});
        check_handler(check, container, {"startupProbe"});
        check_handler(check, container, {"lifecycle", "postStart"});
        check_handler(check, container, {"lifecycle", "preStop"});
    }
}

void check_app_armor(const PodUnderCheck& check) {
    constexpr std::string_view annotation = "container.apparmor.security.beta.kubernetes.io/";
    constexpr std::string_view hint = "use RuntimeDefault, or leave it out";
    for (const SecurityContext& context : security_contexts_of(check)) {
        const json& profile = value_at(*context.content, {"appArmorProfile"});
        const std::string type = text_in(profile, {"type"});
        if (!profile.is_null() && type != "RuntimeDefault" && type != "Localhost") {
            check.add(PodSecurityControl::app_armor, context.pointer + "/appArmorProfile/type",
                      fmt::format("{} has the AppArmor profile \"{}\"", context.owner, type),
                      std::string(hint));
        }
    }
    const json& annotations = value_at(check.pod, {"metadata", "annotations"});
    if (!annotations.is_object()) {
        return;
    }
    for (const auto& [key, value] : annotations.items()) {
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        if (key.starts_with(annotation) && !text.empty() && text != "runtime/default" &&
            !text.starts_with("localhost/")) {
            check.add(
                PodSecurityControl::app_armor, "/metadata/annotations",
                fmt::format("the annotation {} asks for the AppArmor profile \"{}\"", key, text),
                std::string(hint));
        }
    }
}

void check_selinux_options(const PodUnderCheck& check) {
    for (const SecurityContext& context : security_contexts_of(check)) {
        const json& options = value_at(*context.content, {"seLinuxOptions"});
        const std::string type = text_in(options, {"type"});
        if (!options.is_null() && !has_since(selinux_types, type, check.version)) {
            check.add(PodSecurityControl::selinux_options, context.pointer + "/seLinuxOptions/type",
                      fmt::format("{} runs with the SELinux type {}", context.owner, type),
                      "leave it out, or use container_t or container_init_t");
        }
        for (const char* field : {"user", "role"}) {
            if (!text_in(options, {field}).empty()) {
                check.add(PodSecurityControl::selinux_options,
                          fmt::format("{}/seLinuxOptions/{}", context.pointer, field),
                          fmt::format("{} sets an SELinux {}", context.owner, field),
                          fmt::format("drop {}", field));
            }
        }
    }
}

void check_proc_mount(const PodUnderCheck& check) {
    if (check.level == PodSecurityLevel::baseline && check.version.minor >= 35 &&
        check.has_user_namespace()) {
        return;
    }
    for (const PodContainer& container : check.containers) {
        const json& mount = value_at(*container.content, {"securityContext", "procMount"});
        if (!mount.is_null() && mount != "Default") {
            check.add(PodSecurityControl::proc_mount,
                      container.pointer + "/securityContext/procMount",
                      fmt::format("{} sees all of /proc (procMount)", title_of(container)),
                      "drop procMount");
        }
    }
}

void check_seccomp_type(const PodUnderCheck& check) {
    for (const SecurityContext& context : security_contexts_of(check)) {
        const json& profile = value_at(*context.content, {"seccompProfile"});
        const std::string type = text_in(profile, {"type"});
        if (!profile.is_null() && type != "RuntimeDefault" && type != "Localhost") {
            check.add(PodSecurityControl::seccomp, context.pointer + "/seccompProfile/type",
                      fmt::format("{} has the seccomp profile \"{}\"", context.owner, type),
                      "use RuntimeDefault");
        }
    }
}

void check_sysctls(const PodUnderCheck& check) {
    std::size_t index = 0;
    for (const json& sysctl : items_at(check.pod, {"spec", "securityContext", "sysctls"})) {
        const std::size_t at = index++;
        const std::string name = text_in(sysctl, {"name"});
        if (!has_since(safe_sysctls, name, check.version)) {
            check.add(PodSecurityControl::sysctls,
                      fmt::format("/spec/securityContext/sysctls/{}/name", at),
                      fmt::format("the pod sets the sysctl {}", name),
                      "set it on the device, or leave it out");
        }
    }
}

void check_windows_host_process(const PodUnderCheck& check) {
    for (const SecurityContext& context : security_contexts_of(check)) {
        if (is_true_at(*context.content, {"windowsOptions", "hostProcess"})) {
            check.add(PodSecurityControl::windows_host_process,
                      context.pointer + "/windowsOptions/hostProcess",
                      fmt::format("{} is a process of a Windows host", context.owner),
                      "drop hostProcess");
        }
    }
}

}  // namespace edgegpu
