#include "bundles/privileges/scc.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "embedded_scc.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"
#include "yaml/yaml.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// What MicroShift's controller allots to namespaces: blocks of ten thousand.
constexpr SccIdRange allotted{1'000'000'000, 1'999'999'999};

std::optional<std::int64_t> id_in(std::string_view text) {
    const auto value = whole_number<std::int64_t>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

/// "1000/100" (start and size) or "1000-1099"
std::optional<SccIdRange> block_in(std::string_view text) {
    const std::size_t at = text.find_first_of("/-");
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::int64_t> first = id_in(text.substr(0, at));
    const std::optional<std::int64_t> second = id_in(text.substr(at + 1));
    if (!first || !second || *first > UINT32_MAX || *second > UINT32_MAX) {
        return std::nullopt;
    }
    return SccIdRange{*first, text[at] == '-' ? *second : *first + *second - 1};
}

std::optional<std::int64_t> number_at(const json& object,
                                      std::initializer_list<std::string_view> path) {
    const json& value = value_at(object, path);
    return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::set<std::string> set_at(const json& object, std::string_view key) {
    const std::vector<std::string> texts = texts_at(object, {key});
    return {texts.begin(), texts.end()};
}

GroupRule group_rule(const json& strategy) {
    GroupRule rule;
    rule.any = text_in(strategy, {"type"}) != "MustRunAs";
    for (const json& range : items_at(strategy, {"ranges"})) {
        rule.ranges.push_back(
            {number_at(range, {"min"}).value_or(0), number_at(range, {"max"}).value_or(0)});
    }
    return rule;
}

void read_users(const json& strategy, Scc& scc) {
    const std::string type = text_in(strategy, {"type"});
    scc.user = type == "MustRunAs"          ? UserRule::must_run_as
               : type == "MustRunAsRange"   ? UserRule::range
               : type == "MustRunAsNonRoot" ? UserRule::non_root
                                            : UserRule::any;
    scc.uid = number_at(strategy, {"uid"}).value_or(0);
    const std::optional<std::int64_t> first = number_at(strategy, {"uidRangeMin"});
    const std::optional<std::int64_t> last = number_at(strategy, {"uidRangeMax"});
    if (first && last) {
        scc.uids = SccIdRange{*first, *last};
    }
}

/// The flag for host directories counts more than the list.
void read_volumes(const json& object, Scc& scc) {
    const bool host = is_true_at(object, {"allowHostDirVolumePlugin"});
    scc.volumes = value_at(object, {"volumes"}).is_array() ? set_at(object, "volumes")
                                                           : std::set<std::string>{"*"};
    if (host) {
        scc.volumes.insert("hostPath");
    } else {
        scc.volumes.erase("hostPath");
        if (scc.volumes.erase("*") != 0) {
            scc.volumes.insert("* but hostPath");
        }
    }
}

template <typename Texts>
bool has_text(const Texts& texts, std::string_view text) {
    return std::ranges::find(texts, text) != texts.end();
}

std::int64_t capability_points(const Scc& scc) {
    std::int64_t points = 5000 + 300 * static_cast<std::int64_t>(scc.default_capabilities.size());
    points += has_text(scc.allowed_capabilities, "*") || has_text(scc.allowed_capabilities, "ALL")
                  ? 4000
                  : 10 * static_cast<std::int64_t>(scc.allowed_capabilities.size());
    points -= has_text(scc.dropped_capabilities, "ALL")
                  ? 3000
                  : 50 * static_cast<std::int64_t>(scc.dropped_capabilities.size());
    return std::clamp<std::int64_t>(points, 0, 9999);
}

std::int64_t volume_points(const Scc& scc) {
    static constexpr std::array<std::string_view, 6> trivial{"secret",      "configMap", "emptyDir",
                                                             "downwardAPI", "projected", "none"};
    if (has_text(scc.volumes, "hostPath") || has_text(scc.volumes, "*")) {
        return 200'000;
    }
    return std::ranges::all_of(scc.volumes,
                               [](const std::string& each) { return has_text(trivial, each); })
               ? 0
               : 100'000;
}

std::int64_t user_points(UserRule rule) {
    static constexpr std::array<std::int64_t, 4> points{10'000, 20'000, 30'000, 40'000};
    return points.at(static_cast<std::size_t>(rule));
}

bool is_privileged(const Scc& scc) {
    static constexpr std::array<std::string_view, 13> baseline{
        "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
        "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};
    static constexpr std::array<std::string_view, 4> types{"", "container_t", "container_init_t",
                                                           "container_kvm_t"};
    const bool host = scc.allows_host_ipc || scc.allows_host_network || scc.allows_host_pid ||
                      scc.allows_host_ports || has_text(scc.volumes, "hostPath");
    const bool capabilities =
        std::ranges::any_of(scc.allowed_capabilities,
                            [](const std::string& each) { return !has_text(baseline, each); });
    const bool selinux = scc.any_selinux ||
                         !has_text(types, text_in(scc.selinux_options, {"type"})) ||
                         !text_in(scc.selinux_options, {"user"}).empty() ||
                         !text_in(scc.selinux_options, {"role"}).empty();
    const bool seccomp = std::ranges::any_of(scc.seccomp, [](const std::string& each) {
        return each != "runtime/default" && each != "docker/default" &&
               !each.starts_with("localhost/");
    });
    // A safe one in the list of the unsafe ones is not worth a table: it only makes the level
    // wider.
    return host || capabilities || selinux || seccomp || scc.allows_privileged ||
           !scc.unsafe_sysctls.empty();
}

bool is_restricted(const Scc& scc, const NamespaceIds& ids) {
    static constexpr std::array<std::string_view, 11> volumes{
        "configMap", "downwardAPI", "emptyDir",           "projected",
        "secret",    "csi",         "ephemeral",          "persistentVolumeClaim",
        "image",     "none",        "serviceAccountToken"};
    const bool root = scc.user == UserRule::any ||
                      (scc.user == UserRule::must_run_as && scc.uid == 0) ||
                      (scc.user == UserRule::range && scc.uids.value_or(ids.users).first == 0);
    const bool capabilities = has_text(scc.dropped_capabilities, "ALL") &&
                              std::ranges::all_of(scc.allowed_capabilities, [](const auto& each) {
                                  return each == "NET_BIND_SERVICE";
                              });
    return !root && capabilities && !scc.allows_escalation && !scc.seccomp.empty() &&
           std::ranges::all_of(scc.volumes,
                               [](const std::string& each) { return has_text(volumes, each); });
}

}  // namespace

NamespaceIds ids_of_namespace(const json& metadata) {
    NamespaceIds ids{allotted, allotted, {allotted}, std::nullopt};
    const auto annotation = [&](const char* key) {
        return text_in(metadata, {"annotations", key});
    };
    if (const auto users = block_in(annotation("openshift.io/sa.scc.uid-range"))) {
        ids = {*users, {users->first, users->first}, {*users}, std::nullopt};
    }
    const std::string groups = annotation("openshift.io/sa.scc.supplemental-groups");
    std::vector<SccIdRange> blocks;
    for (const std::string_view text : split(groups, ',')) {
        if (const auto block = block_in(text)) {
            blocks.push_back(*block);
        }
    }
    if (!blocks.empty()) {
        ids.fs_groups = {blocks.front().first, blocks.front().first};
        ids.groups = blocks;
    }
    if (std::string level = annotation("openshift.io/sa.scc.mcs"); !level.empty()) {
        ids.selinux_level = std::move(level);
    }
    return ids;
}

std::int64_t Scc::points() const {
    return (allows_privileged ? 1'600'000 : 0) + (allows_host_ports ? 800'000 : 0) +
           (allows_host_network ? 400'000 : 0) + volume_points(*this) + capability_points(*this) +
           (any_selinux ? 40'000 : 10'000) + user_points(user);
}

Scc read_scc(const json& object) {
    Scc scc;
    scc.name = text_in(object, {"metadata", "name"});
    scc.priority = number_at(object, {"priority"}).value_or(0);
    scc.allows_host_ipc = is_true_at(object, {"allowHostIPC"});
    scc.allows_host_network = is_true_at(object, {"allowHostNetwork"});
    scc.allows_host_pid = is_true_at(object, {"allowHostPID"});
    scc.allows_host_ports = is_true_at(object, {"allowHostPorts"});
    scc.allows_privileged = is_true_at(object, {"allowPrivilegedContainer"});
    const json& escalation = value_at(object, {"allowPrivilegeEscalation"});
    scc.allows_escalation = !escalation.is_boolean() || escalation.get<bool>();
    const json& by_default = value_at(object, {"defaultAllowPrivilegeEscalation"});
    if (by_default.is_boolean()) {
        scc.default_escalation = by_default.get<bool>();
    }
    scc.read_only_root = is_true_at(object, {"readOnlyRootFilesystem"});
    scc.needs_user_namespace = text_in(object, {"userNamespaceLevel"}) == "RequirePodLevel";
    scc.allowed_capabilities = set_at(object, "allowedCapabilities");
    scc.default_capabilities = set_at(object, "defaultAddCapabilities");
    scc.dropped_capabilities = set_at(object, "requiredDropCapabilities");
    read_users(value_at(object, {"runAsUser"}), scc);
    scc.any_selinux = text_in(object, {"seLinuxContext", "type"}) != "MustRunAs";
    scc.selinux_options = value_at(object, {"seLinuxContext", "seLinuxOptions"});
    scc.fs_group = group_rule(value_at(object, {"fsGroup"}));
    scc.groups = group_rule(value_at(object, {"supplementalGroups"}));
    scc.seccomp = texts_at(object, {"seccompProfiles"});
    scc.unsafe_sysctls = texts_at(object, {"allowedUnsafeSysctls"});
    scc.forbidden_sysctls = texts_at(object, {"forbiddenSysctls"});
    read_volumes(object, scc);
    scc.users = texts_at(object, {"users"});
    scc.user_groups = texts_at(object, {"groups"});
    return scc;
}

std::vector<Scc> microshift_sccs() {
    std::vector<Scc> sccs;
    for (const YamlNode& document :
         read_yaml("microshift_sccs.yaml", embedded::microshift_sccs_yaml)) {
        for (const YamlNode& item : document.items) {
            sccs.push_back(read_scc(json_of(item)));
        }
    }
    return sccs;
}

void sort_sccs(std::vector<Scc>& sccs) {
    std::ranges::sort(sccs, [](const Scc& a, const Scc& b) {
        return std::tuple(b.priority, a.points(), a.name) <
               std::tuple(a.priority, b.points(), b.name);
    });
}

PodSecurityLevel level_of(const Scc& scc, const NamespaceIds& ids) {
    return is_privileged(scc)        ? PodSecurityLevel::privileged
           : is_restricted(scc, ids) ? PodSecurityLevel::restricted
                                     : PodSecurityLevel::baseline;
}

}  // namespace edgegpu
