#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bundles/privileges/pod_security.hpp"

namespace edgegpu {

/// Numbers from `first` to `last`, both included.
struct SccIdRange {
    std::int64_t first = 0;
    std::int64_t last = 0;

    [[nodiscard]] bool has(std::int64_t id) const { return id >= first && id <= last; }
};

/// The users, groups and SELinux level that a namespace gives to its pods: those of its
/// annotations; where it has none, MicroShift allots them when it makes the namespace, and only
/// the range that they are taken from is known.
struct NamespaceIds {
    SccIdRange users;
    SccIdRange fs_groups;
    std::vector<SccIdRange> groups;
    /// "s0:c26,c5"; nothing: unknown
    std::optional<std::string> selinux_level;
};

/// What the annotations of a namespace say; `metadata` is its metadata, or null.
[[nodiscard]] NamespaceIds ids_of_namespace(const nlohmann::json& metadata);

/// A rule of a constraint for user ids.
enum class UserRule : std::uint8_t { must_run_as, range, non_root, any };

/// A rule for groups: any, or those in `ranges`; without ranges those of the namespace.
struct GroupRule {
    bool any = true;
    std::vector<SccIdRange> ranges;
};

/// A SecurityContextConstraints of OpenShift and MicroShift (security.openshift.io/v1).
struct Scc {
    std::string name;
    std::int64_t priority = 0;
    bool allows_host_ipc = false;
    bool allows_host_network = false;
    bool allows_host_pid = false;
    bool allows_host_ports = false;
    bool allows_privileged = false;
    bool allows_escalation = true;
    std::optional<bool> default_escalation;
    bool read_only_root = false;
    bool needs_user_namespace = false;
    /// with "*" for all
    std::set<std::string> allowed_capabilities;
    std::set<std::string> default_capabilities;
    std::set<std::string> dropped_capabilities;
    UserRule user = UserRule::any;
    std::int64_t uid = 0;
    std::optional<SccIdRange> uids;
    bool any_selinux = true;
    /// those of MustRunAs; an object
    nlohmann::json selinux_options;
    GroupRule fs_group;
    GroupRule groups;
    /// as annotations name them: "runtime/default", "*"
    std::vector<std::string> seccomp;
    std::vector<std::string> unsafe_sysctls;
    std::vector<std::string> forbidden_sysctls;
    /// names of the API ("hostPath"), with "*" for all
    std::set<std::string> volumes;
    /// who may use it whatever the roles say: "system:serviceaccount:NAMESPACE:NAME"
    std::vector<std::string> users;
    std::vector<std::string> user_groups;

    /// How much it allows: of two with one priority, the one with less is tried first.
    [[nodiscard]] std::int64_t points() const;
};

/// Reads an object of this kind, with the API server's defaults. What has another type than it
/// should is read as absent.
[[nodiscard]] Scc read_scc(const nlohmann::json& object);

/// Those that MicroShift itself has.
[[nodiscard]] std::vector<Scc> microshift_sccs();

/// In the order in which the API server tries them: priority, points, name.
void sort_sccs(std::vector<Scc>& sccs);

/// The level of the Pod Security Standards that admits every pod of a constraint, as MicroShift
/// computes it to label namespaces.
[[nodiscard]] PodSecurityLevel level_of(const Scc& scc, const NamespaceIds& ids);

}  // namespace edgegpu
