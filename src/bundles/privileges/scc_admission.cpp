#include "bundles/privileges/scc_admission.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "bundles/privileges/scc_parts.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view seccomp_of_pod = "seccomp.security.alpha.kubernetes.io/pod";

void check_group(SccAdmission& admission, const GroupRule& rule,
                 const std::vector<SccIdRange>& of_namespace, const json& value,
                 const std::string& field) {
    const std::vector<SccIdRange>& ranges = rule.ranges.empty() ? of_namespace : rule.ranges;
    if (rule.any || !value.is_number_integer()) {
        return;
    }
    const auto group = value.get<std::int64_t>();
    if (std::ranges::none_of(ranges, [&](const SccIdRange& range) { return range.has(group); })) {
        admission.add(
            "/spec/securityContext/" + field,
            fmt::format("the pod's {} {} is not one of the namespace's groups", field, group),
            fmt::format("drop {}: the namespace's is the default", field));
    }
}

/// The field for what an annotation names; null for other text.
json seccomp_field(const std::string& profile) {
    constexpr std::string_view file = "localhost/";
    if (profile == "runtime/default" || profile == "docker/default") {
        return {{"type", "RuntimeDefault"}};
    }
    if (profile.starts_with(file)) {
        return {{"type", "Localhost"}, {"localhostProfile", profile.substr(file.size())}};
    }
    return profile == "unconfined" ? json{{"type", "Unconfined"}} : json();
}

void apply_pod_context(SccAdmission& admission) {
    const Scc& scc = admission.scc;
    const json& context = value_at(admission.pod, {"spec", "securityContext"});
    const std::string pointer = "/spec/securityContext";
    check_group(admission, scc.fs_group, {admission.ids.fs_groups}, value_at(context, {"fsGroup"}),
                "fsGroup");
    for (const json& group : items_at(context, {"supplementalGroups"})) {
        check_group(admission, scc.groups, admission.ids.groups, group, "supplementalGroups");
    }
    check_selinux(admission, "the pod", pointer + "/seLinuxOptions",
                  value_at(context, {"seLinuxOptions"}));
    json& made = member(member(admission.verdict.pod, "spec"), "securityContext");
    if (!scc.any_selinux && value_at(made, {"seLinuxOptions"}).is_null()) {
        made["seLinuxOptions"] =
            scc.selinux_options.is_object() ? scc.selinux_options : json::object();
    }
    // An annotation of old versions counts more than the field, and becomes one.
    std::string profile = text_in(admission.pod, {"metadata", "annotations", seccomp_of_pod});
    if (profile.empty() && value_at(context, {"seccompProfile"}).is_null()) {
        const auto first =
            std::ranges::find_if(scc.seccomp, [](const std::string& each) { return each != "*"; });
        profile = first != scc.seccomp.end() ? *first : "";
    }
    if (!profile.empty()) {
        made["seccompProfile"] = seccomp_field(profile);
    } else {
        profile = profile_of(value_at(context, {"seccompProfile"}));
    }
    check_profile(admission, "the pod", pointer + "/seccompProfile", profile);
}

void check_host(SccAdmission& admission) {
    const Scc& scc = admission.scc;
    const std::array<std::pair<const char*, bool>, 3> fields{
        {{"hostNetwork", scc.allows_host_network},
         {"hostPID", scc.allows_host_pid},
         {"hostIPC", scc.allows_host_ipc}}};
    for (const auto& [field, allowed] : fields) {
        if (!allowed && is_true_at(admission.pod, {"spec", field})) {
            admission.add(fmt::format("/spec/{}", field), fmt::format("the pod asks for {}", field),
                          fmt::format("drop {}", field));
        }
    }
    if (scc.needs_user_namespace && value_at(admission.pod, {"spec", "hostUsers"}) != false) {
        admission.add("/spec/hostUsers", "the pod has no user namespace of its own",
                      "set hostUsers: false");
    }
}

bool matches_sysctl(const std::vector<std::string>& patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
        return pattern.ends_with('*')
                   ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                   : name == pattern;
    });
}

void check_sysctls_of(SccAdmission& admission) {
    static const std::vector<std::string> safe{"kernel.shm_rmid_forced",
                                               "net.ipv4.ip_local_port_range",
                                               "net.ipv4.tcp_syncookies",
                                               "net.ipv4.ping_group_range",
                                               "net.ipv4.tcp_keepalive_time",
                                               "net.ipv4.ip_unprivileged_port_start",
                                               "net.ipv4.tcp_fin_timeout",
                                               "net.ipv4.tcp_keepalive_intvl",
                                               "net.ipv4.tcp_keepalive_probes",
                                               "net.ipv4.ip_local_reserved_ports",
                                               "net.ipv4.tcp_slow_start_after_idle",
                                               "net.ipv4.tcp_notsent_lowat",
                                               "net.ipv4.tcp_rmem",
                                               "net.ipv4.tcp_wmem"};
    std::size_t index = 0;
    for (const json& sysctl : items_at(admission.pod, {"spec", "securityContext", "sysctls"})) {
        const std::string name = text_in(sysctl, {"name"});
        const std::size_t at = index++;
        if (matches_sysctl(admission.scc.forbidden_sysctls, name) ||
            (!matches_sysctl(safe, name) && !matches_sysctl(admission.scc.unsafe_sysctls, name))) {
            admission.add(fmt::format("/spec/securityContext/sysctls/{}/name", at),
                          fmt::format("the pod sets the sysctl {}", name),
                          "set it on the device, or leave it out");
        }
    }
}

/// The name that constraints have for a source of volumes.
std::string volume_type(const std::string& source) {
    return source == "cephfs"          ? "cephFS"
           : source == "vsphereVolume" ? "vsphere"
           : source == "storageos"     ? "storageOS"
                                       : source;
}

bool has_token(const json& volume) {
    const std::vector<json>& sources = items_at(volume, {"projected", "sources"});
    return std::ranges::any_of(sources, [](const json& source) {
        return !value_at(source, {"serviceAccountToken"}).is_null();
    });
}

void check_volumes(SccAdmission& admission) {
    const std::set<std::string>& allowed = admission.scc.volumes;
    std::size_t index = 0;
    for (const json& volume : items_at(admission.pod, {"spec", "volumes"})) {
        const std::size_t at = index++;
        const std::vector<std::string> sources = sources_of_volume(volume);
        if (sources.size() != 1 || allowed.contains("*") ||
            (sources.front() != "hostPath" && allowed.contains("* but hostPath")) ||
            allowed.contains(volume_type(sources.front())) ||
            (has_token(volume) && allowed.contains("secret"))) {
            continue;
        }
        admission.add(fmt::format("/spec/volumes/{}/{}", at, sources.front()),
                      fmt::format("volume \"{}\" is of the type {}", text_in(volume, {"name"}),
                                  sources.front()),
                      "use another kind of volume");
    }
}

}  // namespace

SccVerdict apply_scc(const Scc& scc, const json& pod, const NamespaceIds& ids) {
    SccAdmission admission{scc, ids, pod, {{}, pod}};
    apply_pod_context(admission);
    check_host(admission);
    check_sysctls_of(admission);
    check_volumes(admission);
    for (const PodContainer& container : containers_of(pod)) {
        if (container.content->is_object()) {
            apply_container(admission, container);
        }
    }
    return std::move(admission.verdict);
}

}  // namespace edgegpu
