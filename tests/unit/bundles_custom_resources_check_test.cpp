#include "bundles/checks/custom_resources_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string resources_of(const std::vector<std::string>& texts,
                         const ImageFacts& facts = plain_facts()) {
    return said_of(
        texts,
        [](const KnownObjects& known, const std::vector<PodTemplate>&, Findings& findings) {
            check_custom_resources(known, findings);
        },
        facts);
}

std::string definition(const std::string& name = "widgets.example.com") {
    return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name) +
           "spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced, "
           "versions: [{name: v1, served: true}, {name: v1beta1, served: false}]}\n";
}

const std::string widget = object("example.com/v1", "Widget", "w", "app");

TEST(CustomResourcesCheckTest, WithoutDefinition) {
    EXPECT_THAT(resources_of({widget}),
                AllOf(HasSubstr("/home/user/b0/a.yaml:2:7: Widget app/w: neither MicroShift nor a "
                                "bundle defines Widget of example.com"),
                      HasSubstr("provided = [\"CustomResourceDefinition PLURAL.example.com\"]")));
    EXPECT_EQ(resources_of({widget + "---\n" + definition()}), "");
    EXPECT_THAT(resources_of({object("example.com/v1", "Widgets", "w") + "---\n" + definition()}),
                HasSubstr("did you mean"));
    ImageFacts facts = plain_facts();
    facts.provided = {{"CustomResourceDefinition", "", "widgets.example.com", {}}};
    EXPECT_EQ(resources_of({widget}, facts), "");
    facts.provided = {{"CustomResourceDefinition", "", "widgets.example.org", {}}};
    EXPECT_NE(resources_of({widget}, facts), "");
    facts.provided.clear();
    facts.partial = true;
    EXPECT_EQ(resources_of({widget}, facts), "");
}

TEST(CustomResourcesCheckTest, AVersionThatIsNotServed) {
    EXPECT_THAT(resources_of(
                    {object("example.com/v1beta1", "Widget", "w", "app") + "---\n" + definition()}),
                AllOf(HasSubstr("does not serve the version v1beta1 of Widget"),
                      HasSubstr("it serves v1")));
}

TEST(CustomResourcesCheckTest, ADefinitionThatIsAppliedLater) {
    EXPECT_EQ(resources_of({definition(), widget}), "");
    EXPECT_EQ(resources_of({widget, definition()}), "") << "as one";
    ImageFacts facts = plain_facts();
    facts.manifests = ManifestsPlace::etc;
    EXPECT_EQ(resources_of({definition(), widget}, facts), "");
    EXPECT_THAT(resources_of({widget, definition()}, facts),
                HasSubstr("its definition is in bundle \"b1\", which MicroShift applies after"));
    const std::string other = object("v1", "ConfigMap", "a");
    EXPECT_EQ(resources_of({other, definition(), widget}), "");
    EXPECT_THAT(resources_of({other, widget, definition()}, facts), HasSubstr("bundle \"b2\""));
}

TEST(CustomResourcesCheckTest, WhatMicroShiftHas) {
    for (const std::string& text :
         {object("route.openshift.io/v1", "Route", "r"),
          object("security.openshift.io/v1", "SecurityContextConstraints", "s"),
          object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "s"),
          object("topolvm.io/v1", "LogicalVolume", "l")}) {
        EXPECT_EQ(resources_of({text}), "") << text;
    }
    for (const auto& [group, kind] : {std::pair<std::string, std::string>{"config", "Ingress"},
                                      {"operator", "IngressController"},
                                      {"route", "Routes"}}) {
        EXPECT_THAT(resources_of({object(group + ".openshift.io/v1", kind, "x")}),
                    HasSubstr("defines " + kind + " of " + group + ".openshift.io"));
    }
}

TEST(CustomResourcesCheckTest, WhatPackagesBring) {
    const std::string network = object("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "n");
    ImageFacts facts = plain_facts();
    EXPECT_EQ(resources_of({network}, facts), "") << "the packages are not known yet";
    facts.resolved = true;
    EXPECT_THAT(resources_of({network}, facts),
                HasSubstr("the package microshift-multus brings it: add it to [[packages]]"));
    facts.packages = {"microshift", "microshift-multus"};
    EXPECT_EQ(resources_of({network}, facts), "");
}

TEST(CustomResourcesCheckTest, WhatIsInstalledOnTheDevice) {
    EXPECT_EQ(resources_of({widget + "---\n" +
                            object("operators.coreos.com/v1alpha1", "Subscription", "s", "app")}),
              "");
    EXPECT_EQ(resources_of({widget + "---\n" +
                            object("apiregistration.k8s.io/v1", "APIService", "v1.example.com") +
                            "spec: {group: example.com}\n"}),
              "");
    const std::string api = "rbac.authorization.k8s.io/v1";
    EXPECT_EQ(resources_of({widget + "---\n" + object(api, "ClusterRole", "r") +
                            "rules: [{apiGroups: [apiextensions.k8s.io], resources: "
                            "[customresourcedefinitions], verbs: [create]}]\n---\n" +
                            object(api, "ClusterRoleBinding", "r") +
                            "roleRef: {kind: ClusterRole, name: r}\n"}),
              "");
}

TEST(CustomResourcesCheckTest, TheNameOfADefinition) {
    EXPECT_THAT(resources_of({definition("edge-widgets.example.com")}),
                HasSubstr("name it widgets.example.com; does the kustomization add a prefix"));
}

}  // namespace
}  // namespace edgegpu::test
