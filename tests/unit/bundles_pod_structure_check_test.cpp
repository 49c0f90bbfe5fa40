#include "bundles/checks/pod_structure_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

std::string structure_of(const std::string& text) {
    return said_of({text}, check_pod_structure);
}

TEST(PodStructureCheckTest, AMountOfNoVolume) {
    const std::string mount = "volumeMounts: [{name: v, mountPath: /v}]";
    EXPECT_THAT(structure_of(pod("", mount)),
                HasSubstr("a mount names the volume \"v\", which the pod does not have"));
    EXPECT_THAT(structure_of(pod("volumes: [{name: w, emptyDir: {}}]", mount)),
                HasSubstr("hint: its volumes: w"));
    EXPECT_EQ(structure_of(pod("volumes: [{name: v, emptyDir: {}}]", mount)), "");
    EXPECT_THAT(structure_of(pod("", "volumeDevices: [{name: d, devicePath: /dev/d}]")),
                HasSubstr("\"d\""));
    EXPECT_EQ(structure_of(object("apps/v1", "StatefulSet", "s") +
                           "spec: {volumeClaimTemplates: [{metadata: {name: v}}], template: {spec: "
                           "{containers: [{name: c, " +
                           mount + "}]}}}\n"),
              "");
    EXPECT_EQ(structure_of(object("monitoring.coreos.com/v1", "Prometheus", "p") +
                           "spec: {containers: [{name: c, " + mount + "}]}\n"),
              "")
        << "the operator adds volumes";
}

TEST(PodStructureCheckTest, TwoOfOneName) {
    EXPECT_THAT(structure_of(pod("volumes: [{name: v, emptyDir: {}}]",
                                 "volumeMounts: [{name: v, mountPath: /v}, "
                                 "{name: v, mountPath: /v, subPath: a}]")),
                HasSubstr("two mounts of a container are at /v"));
    EXPECT_EQ(structure_of(pod("volumes: [{name: v, emptyDir: {}}]",
                               "volumeMounts: [{name: v, mountPath: /v}, "
                               "{name: v, mountPath: /w, subPath: a}]")),
              "");
    EXPECT_THAT(structure_of(pod("volumes: [{name: v, emptyDir: {}}, {name: v, hostPath: {}}]")),
                HasSubstr("two volumes are named \"v\""));
    EXPECT_THAT(structure_of(pod("initContainers: [{name: c}]")),
                HasSubstr("two containers are named \"c\""));
}

TEST(PodStructureCheckTest, ASelectorThatDoesNotMatchItsTemplate) {
    const auto workload = [](const std::string& kind, const std::string& selector) {
        return structure_of(object("apps/v1", kind, "w") + "spec: {selector: {" + selector +
                            "}, template: {metadata: {labels: {app: a, tier: b}}, spec: "
                            "{containers: [{name: c}]}}}\n");
    };
    for (const char* kind : {"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet"}) {
        EXPECT_EQ(workload(kind, "matchLabels: {app: a}"), "");
        EXPECT_THAT(workload(kind, "matchLabels: {app: b}"), HasSubstr("selector does not match"));
        EXPECT_THAT(workload(kind, "matchLabels: {app: a, zone: x}"), HasSubstr("/a.yaml:5:18: "));
    }
    const auto expression = [&](const std::string& text) {
        return workload("Deployment", "matchExpressions: [{" + text + "}]");
    };
    EXPECT_EQ(expression("key: app, operator: In, values: [a, b]"), "");
    EXPECT_NE(expression("key: app, operator: In, values: [b]"), "");
    EXPECT_NE(expression("key: app, operator: NotIn, values: [a]"), "");
    EXPECT_EQ(expression("key: app, operator: Exists"), "");
    EXPECT_NE(expression("key: app, operator: DoesNotExist"), "");
    EXPECT_EQ(expression("key: zone, operator: NotIn, values: [a]"), "");
    EXPECT_EQ(workload("Job", "matchLabels: {app: b}"), "") << "the controller's";
    EXPECT_THAT(structure_of(object("v1", "ReplicationController", "w") +
                             "spec: {selector: {app: b}, template: {metadata: {labels: {app: a}}, "
                             "spec: {containers: [{name: c}]}}}\n"),
                HasSubstr("selector does not match"));
}

}  // namespace
}  // namespace edgegpu::test
