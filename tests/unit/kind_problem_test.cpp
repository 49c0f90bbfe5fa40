#include "schema/kind_problem.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {

namespace {

std::string explain_kind(const std::string& api_version, const std::string& kind,
                         unsigned minor = 33) {
    static const SchemaTable table = shipped_schema_table();
    return explain_unknown_kind(table, KubernetesVersion{minor}, api_version, kind).message;
}

}  // namespace

TEST(KindProblem, RemovedApis) {
    EXPECT_EQ(
        explain_kind("extensions/v1beta1", "Deployment"),
        "apiVersion: extensions/v1beta1 Deployment was removed in Kubernetes 1.16; use apps/v1");
    EXPECT_EQ(explain_kind("extensions/v1beta1", "Ingress"),
              "apiVersion: extensions/v1beta1 Ingress was removed in Kubernetes 1.22; use "
              "networking.k8s.io/v1");
    EXPECT_EQ(explain_kind("batch/v1beta1", "CronJob"),
              "apiVersion: batch/v1beta1 CronJob was removed in Kubernetes 1.25; use batch/v1");
    EXPECT_EQ(
        explain_kind("policy/v1beta1", "PodSecurityPolicy"),
        "apiVersion: policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25; nothing "
        "replaces it");
    EXPECT_EQ(
        explain_kind("autoscaling/v2beta2", "HorizontalPodAutoscaler"),
        "apiVersion: autoscaling/v2beta2 HorizontalPodAutoscaler was removed in Kubernetes 1.26; "
        "use autoscaling/v2");
    EXPECT_EQ(
        explain_kind("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", 29),
        "apiVersion: flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema was removed in Kubernetes "
        "1.29; use flowcontrol.apiserver.k8s.io/v1");
}

TEST(KindProblem, ApisOfLaterVersions) {
    EXPECT_EQ(explain_kind("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", 27),
              "apiVersion: admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy came with "
              "Kubernetes 1.30, and this is 1.27; use admissionregistration.k8s.io/v1alpha1");
    EXPECT_EQ(explain_kind("resource.k8s.io/v1", "ResourceClaim", 33),
              "apiVersion: resource.k8s.io/v1 ResourceClaim came with Kubernetes 1.34, and this is "
              "1.33; use resource.k8s.io/v1beta2");
}

TEST(KindProblem, WrongGroupsAndNames) {
    EXPECT_EQ(explain_kind("v1", "Deployment"),
              "apiVersion: \"v1\" has no Deployment; use apps/v1");
    EXPECT_EQ(explain_kind("apps/v1", "ConfigMap"),
              "apiVersion: \"apps/v1\" has no ConfigMap; use v1");
    EXPECT_EQ(explain_kind("app/v1", "Deployment"),
              "apiVersion: \"app/v1\" has no Deployment; use apps/v1");
    EXPECT_EQ(
        explain_kind("apps/v1", "Deploymnt"),
        "kind: Kubernetes 1.33 has no \"Deploymnt\" to apply in apps/v1; did you mean Deployment?");
    EXPECT_EQ(
        explain_kind("v1", "deployment"),
        "kind: Kubernetes 1.33 has no \"deployment\" to apply in v1; did you mean Deployment?");
    EXPECT_EQ(
        explain_kind("app/v1", "Foo"),
        "apiVersion: Kubernetes 1.33 has nothing to apply in \"app/v1\"; did you mean apps/v1?");
    EXPECT_EQ(explain_kind("v1", "PodList"),
              "kind: Kubernetes 1.33 has no \"PodList\" to apply in v1");
}

TEST(KindProblem, LongNamesAreNotCompared) {
    const std::string message = explain_kind("v1", std::string().assign(10'000'000, 'D'));
    EXPECT_TRUE(message.starts_with("kind: Kubernetes 1.33 has no \"DDDD"))
        << message.substr(0, 99);
    EXPECT_LT(message.size(), 200U);
    EXPECT_LT(explain_kind(std::string().assign(10'000'000, 'D'), "Pod").size(), 200U);
}

TEST(KindProblem, Groups) {
    const SchemaTable table = shipped_schema_table();
    for (const char* group : {"", "apps", "app", "rbac.authorization.k8s.io", "extensions"}) {
        EXPECT_TRUE(is_kubernetes_group(table, group)) << group;
    }
    EXPECT_FALSE(is_kubernetes_group(table, "nvidia.com"));
    EXPECT_FALSE(is_kubernetes_group(table, "snapshot.storage.k8s.io"));
    EXPECT_EQ(group_of("apps/v1"), "apps");
    EXPECT_EQ(group_of("v1"), "");
}

}  // namespace edgegpu
