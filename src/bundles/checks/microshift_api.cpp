#include "bundles/checks/microshift_api.hpp"

#include <algorithm>
#include <array>

namespace edgegpu {

const std::vector<MicroshiftGroup>& microshift_groups() {
    static const std::vector<MicroshiftGroup> groups{
        {"lvm.topolvm.io",
         "",
         {"LVMCluster", "LVMVolumeGroup", "LVMVolumeGroupNodeStatus", "LogicalVolume"}},
        {"microshift.io", "", {"RemoteCluster"}},
        {"migration.k8s.io", "", {"StorageVersionMigration", "StorageState"}},
        {"route.openshift.io", "", {"Route"}},
        {"security.internal.openshift.io", "", {"RangeAllocation"}},
        {"security.openshift.io", "", {"SecurityContextConstraints"}},
        {"snapshot.storage.k8s.io",
         "",
         {"VolumeSnapshot", "VolumeSnapshotClass", "VolumeSnapshotContent"}},
        {"topolvm.io", "", {"LogicalVolume"}},
        {"acme.cert-manager.io", "microshift-cert-manager", {}},
        {"cert-manager.io", "microshift-cert-manager", {}},
        {"operator.openshift.io",
         "microshift-cert-manager",
         {"CertManager", "IstioCSR", "TrustManager"}},
        {"trust.cert-manager.io", "microshift-cert-manager", {}},
        {"extensions.istio.io", "microshift-gateway-api", {}},
        {"gateway.networking.k8s.io", "microshift-gateway-api", {}},
        {"networking.istio.io", "microshift-gateway-api", {}},
        {"sailoperator.io", "microshift-gateway-api", {}},
        {"security.istio.io", "microshift-gateway-api", {}},
        {"telemetry.istio.io", "microshift-gateway-api", {}},
        {"inference.networking.x-k8s.io", "microshift-ai-model-serving", {}},
        {"serving.kserve.io", "microshift-ai-model-serving", {}},
        {"k8s.cni.cncf.io", "microshift-multus", {}},
        {"metrics.k8s.io", "microshift-metrics-server", {}},
        {"operators.coreos.com", "microshift-olm", {}},
        {"sriovnetwork.openshift.io", "microshift-sriov", {}},
    };
    return groups;
}

const std::vector<MicroshiftNamespace>& microshift_namespaces() {
    static const std::vector<MicroshiftNamespace> namespaces{
        {"default", ""},
        {"kube-node-lease", ""},
        {"kube-public", ""},
        {"kube-system", ""},
        {"openshift-c2cc", ""},
        {"openshift-controller-manager", ""},
        {"openshift-dns", ""},
        {"openshift-infra", ""},
        {"openshift-ingress", ""},
        {"openshift-kube-controller-manager", ""},
        {"openshift-ovn-kubernetes", ""},
        {"openshift-route-controller-manager", ""},
        {"openshift-service-ca", ""},
        {"openshift-storage", ""},
        {"cert-manager", "microshift-cert-manager"},
        {"cert-manager-operator", "microshift-cert-manager"},
        {"openshift-gateway-api", "microshift-gateway-api"},
        {"openshift-marketplace", "microshift-olm"},
        {"openshift-monitoring", "microshift-metrics-kube-state"},
        {"openshift-monitoring", "microshift-metrics-node-exporter"},
        {"openshift-monitoring", "microshift-metrics-server"},
        {"openshift-multus", "microshift-multus"},
        {"openshift-observability", "microshift-observability"},
        {"openshift-operator-lifecycle-manager", "microshift-olm"},
        {"openshift-operators", "microshift-olm"},
        {"redhat-ods-applications", "microshift-ai-model-serving"},
        {"sriov-network-operator", "microshift-sriov"},
    };
    return namespaces;
}

bool is_builtin_cluster_role(std::string_view name) {
    static constexpr std::array<std::string_view, 24> names{"admin",
                                                            "aggregate-olm-edit",
                                                            "aggregate-olm-view",
                                                            "aggregate-route-admin",
                                                            "aggregate-route-edit",
                                                            "certmanager-editor-role",
                                                            "certmanager-viewer-role",
                                                            "cluster-admin",
                                                            "edit",
                                                            "kserve-admin",
                                                            "kserve-edit",
                                                            "kserve-view",
                                                            "kube-state-metrics",
                                                            "lvms-operator",
                                                            "microshift-c2cc-probe",
                                                            "multus",
                                                            "node-exporter",
                                                            "openshift-ai-llminferenceservice-scc",
                                                            "servicemesh-operator3",
                                                            "sriov-network-config-daemon",
                                                            "sriov-network-operator",
                                                            "topolvm-controller",
                                                            "vg-manager",
                                                            "view"};
    return name.starts_with("system:") || name.starts_with("openshift-") ||
           std::ranges::find(names, name) != names.end();
}

bool is_builtin_priority_class(std::string_view name) {
    // The API server refuses other classes whose names begin with "system-".
    return name.starts_with("system-") || name == "openshift-user-critical";
}

bool is_builtin_storage_class(std::string_view name) {
    // "lvms-" begins the names of those that an LVMCluster makes for its device classes.
    return name == "topolvm-provisioner" || name.starts_with("lvms-");
}

}  // namespace edgegpu
