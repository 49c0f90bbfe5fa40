#include "blueprint/parse/node_check.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "support/path_glob.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr std::array owned{"/etc/NetworkManager/conf.d/20-keyfiles.conf",
                           "/etc/NetworkManager/conf.d/sdn.conf",
                           "/etc/NetworkManager/dispatcher.d/30-resolv-prepender",
                           "/etc/audit/rules.d/mco-*",
                           "/etc/containers/policy.json",
                           "/etc/containers/registries.conf",
                           "/etc/containers/storage.conf",
                           "/etc/crio/crio.conf.d/00-default",
                           "/etc/docker/certs.d/**",
                           "/etc/keepalived/**",
                           "/etc/kubernetes/**",
                           "/etc/machine-config-daemon/**",
                           "/etc/mco/**",
                           "/etc/modules-load.d/iptables.conf",
                           "/etc/nmstate/**",
                           "/etc/node-sizing-enabled.env",
                           "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt",
                           "/etc/sysctl.d/arp.conf",
                           "/etc/sysctl.d/enable-userfaultfd.conf",
                           "/etc/sysctl.d/gc-thresh.conf",
                           "/etc/sysctl.d/inotify.conf",
                           "/etc/sysctl.d/vm-max-map.conf",
                           "/etc/systemd/system.conf.d/10-default-env-godebug.conf",
                           "/etc/systemd/system.conf.d/kubelet-cgroups.conf",
                           "/etc/systemd/system/crio.service",
                           "/etc/systemd/system/crio.service.d/10-mco-*",
                           "/etc/systemd/system/kubelet*",
                           "/etc/systemd/system/kubelet*/**",
                           "/etc/systemd/system/machine-config-daemon-*",
                           "/etc/systemd/system/nodeip-configuration.service",
                           "/etc/systemd/system/on-prem-resolv-prepender.*",
                           "/etc/systemd/system/ovs-configuration.service",
                           "/etc/systemd/system/rpm-ostreed.service.d/10-mco-*",
                           "/etc/tmpfiles.d/cleanup-cni.conf"};

}  // namespace

bool is_file_of_cluster(std::string_view path) {
    static const std::vector<PathGlob> globs(owned.begin(), owned.end());
    return std::ranges::any_of(globs, [&](const PathGlob& glob) { return glob.matches(path); });
}

void check_node_file(std::string_view path, const SourceLocation& location, Mistakes& mistakes) {
    if (is_file_of_cluster(path)) {
        mistakes.add(
            error_at(location, "{}: the cluster replaces this file on each node", path)
                .hinted("bring it with a MachineConfig, KubeletConfig or "
                        "ContainerRuntimeConfig of the pool, or use another file of a "
                        "drop-in directory, such as /etc/crio/crio.conf.d/99-nvidia.conf"));
    }
}

void check_node(const Blueprint& blueprint, Mistakes& mistakes) {
    for (const FileRequest& file : blueprint.files) {
        if (!file.directory) {
            check_node_file(file.path, file.location, mistakes);
        }
    }
    if (blueprint.updates) {
        mistakes.add(error_at(blueprint.updates->location,
                              "[updates] on a node of OpenShift: the cluster decides what its "
                              "nodes run")
                         .hinted("remove [updates]"));
    }
}

}  // namespace edgegpu
