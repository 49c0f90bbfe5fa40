#include "bundles/install/system_objects.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(SystemObjects, AreThoseThatMicroShiftOrKubernetesMake) {
    EXPECT_TRUE(belongs_to_system("", "Namespace", "", "kube-system"));
    EXPECT_TRUE(belongs_to_system("", "Namespace", "", "default"));
    EXPECT_TRUE(belongs_to_system("apps", "Deployment", "openshift-ingress", "router-default"));
    EXPECT_TRUE(belongs_to_system("", "ConfigMap", "openshift-dns", "dns-default"));
    EXPECT_TRUE(belongs_to_system("", "ServiceAccount", "default", "default"));
    EXPECT_TRUE(belongs_to_system("", "ServiceAccount", "app", "default"));
    EXPECT_TRUE(belongs_to_system("", "ConfigMap", "app", "kube-root-ca.crt"));
    EXPECT_TRUE(belongs_to_system("", "Service", "default", "kubernetes"));
    EXPECT_TRUE(belongs_to_system("", "Node", "", "edge-1"));
    EXPECT_TRUE(belongs_to_system("storage.k8s.io", "StorageClass", "", "topolvm-provisioner"));
    EXPECT_TRUE(belongs_to_system("rbac.authorization.k8s.io", "ClusterRole", "", "cluster-admin"));
    EXPECT_TRUE(
        belongs_to_system("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "system:node"));
    EXPECT_TRUE(
        belongs_to_system("security.openshift.io", "SecurityContextConstraints", "", "privileged"));
    EXPECT_TRUE(belongs_to_system("apiextensions.k8s.io", "CustomResourceDefinition", "",
                                  "routes.route.openshift.io"));
    EXPECT_TRUE(
        belongs_to_system("scheduling.k8s.io", "PriorityClass", "", "system-node-critical"));
}

TEST(SystemObjects, AreNotThoseOfBundles) {
    EXPECT_FALSE(belongs_to_system("", "Namespace", "", "app"));
    EXPECT_FALSE(belongs_to_system("", "Namespace", "", "openshiftfoo"));
    EXPECT_FALSE(belongs_to_system("apps", "Deployment", "app", "router-default"));
    EXPECT_FALSE(belongs_to_system("", "ConfigMap", "default", "settings"));
    EXPECT_FALSE(belongs_to_system("", "Service", "default", "app"));
    EXPECT_FALSE(belongs_to_system("storage.k8s.io", "StorageClass", "", "fast"));
    EXPECT_FALSE(belongs_to_system("rbac.authorization.k8s.io", "ClusterRole", "", "nfd-master"));
    EXPECT_FALSE(
        belongs_to_system("security.openshift.io", "SecurityContextConstraints", "", "nfd-worker"));
    EXPECT_FALSE(belongs_to_system("apiextensions.k8s.io", "CustomResourceDefinition", "",
                                   "clusterpolicies.nvidia.com"));
}

}  // namespace
}  // namespace edgegpu
