#include "bundles/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<KubeObject> described_objects(const std::string& text) {
    return read_objects("bundle", text);
}

std::string described_pod(const std::string& spec, const std::string& labels = "{}") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: " + labels + "}\nspec: {" +
           spec + "}\n";
}

TEST(BundleDescription, Versions) {
    const auto of_image = [](const std::string& image) {
        return versions_of(
            described_objects(described_pod("containers: [{image: \"" + image + "\"}]")));
    };
    EXPECT_THAT(of_image("nvcr.io/nvidia/k8s-device-plugin:v0.20.0"), ElementsAre("v0.20.0"));
    EXPECT_THAT(of_image("x/tensorflow:25.02-tf2-py3@sha256:00"), ElementsAre("25.02"));
    EXPECT_THAT(of_image("x/sample:vectoradd-cuda12.5.0-ubi8"), ElementsAre("cuda12.5.0"));
    EXPECT_THAT(of_image("x/app:stable-debug"), ElementsAre("stable-debug"));
    EXPECT_THAT(of_image("localhost:5000/app"), IsEmpty());
    EXPECT_THAT(versions_of(described_objects(
                    described_pod("containers: [{image: \"b:2\"}, {image: \"a:1\"}]"))),
                ElementsAre("1", "2"));
    EXPECT_THAT(versions_of(described_objects(described_pod("containers: [{image: \"a:1\"}]",
                                                            "{app.kubernetes.io/version: v7}"))),
                ElementsAre("v7"));
}

TEST(BundleDescription, PrivilegesOfPods) {
    EXPECT_THAT(privileges_of(described_objects(
                    described_pod("containers: [{securityContext: {privileged: false, "
                                  "runAsUser: 1000, capabilities: {drop: [ALL]}}}], "
                                  "hostPID: false"))),
                IsEmpty());
    EXPECT_THAT(privileges_of(described_objects(described_pod(
                    "hostNetwork: true, hostPID: true, securityContext: {runAsUser: 0}, volumes: "
                    "[{name: a, hostPath: {path: /}}], initContainers: [{securityContext: "
                    "{privileged: true}}], containers: [{securityContext: {capabilities: {add: "
                    "[SYS_ADMIN, NET_RAW]}}}]"))),
                ElementsAre("privileged", "hostNetwork", "hostPID", "hostPath", "root",
                            "capability NET_RAW", "capability SYS_ADMIN"));
    EXPECT_THAT(privileges_of(
                    described_objects(described_pod("securityContext: {runAsUser: 0}, containers: "
                                                    "[{securityContext: {runAsUser: 7}}]"))),
                IsEmpty());
}

TEST(BundleDescription, PrivilegesOfAccounts) {
    const std::string role =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: "
        "{name: r}\nrules:\n- apiGroups: [security.openshift.io]\n  resources: "
        "[securitycontextconstraints]\n";
    const std::string named = role + "  resourceNames: [privileged]\n";
    EXPECT_THAT(privileges_of(described_objects(named + "  verbs: [use]\n")),
                ElementsAre("SCC privileged"));
    EXPECT_THAT(privileges_of(described_objects(named + "  verbs: [get]\n")), IsEmpty());
    EXPECT_THAT(privileges_of(described_objects(role + "  verbs: [\"*\"]\n")),
                ElementsAre("every SCC"));
    const std::string binding =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
        "metadata: {name: b}\nroleRef: {name: ";
    EXPECT_THAT(privileges_of(described_objects(binding + "\"system:openshift:scc:anyuid\"}\n")),
                ElementsAre("SCC anyuid"));
    EXPECT_THAT(privileges_of(described_objects(binding + "cluster-admin}\n")),
                ElementsAre("cluster-admin"));
    EXPECT_THAT(privileges_of(described_objects(binding + "view}\n")), IsEmpty());
}

}  // namespace
}  // namespace edgegpu
