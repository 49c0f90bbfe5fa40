#include "bundles/checks/image_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;

TEST(ImageFactsTest, TheVersionFollowsMicroShift) {
    EXPECT_EQ(kubernetes_for("4.18.*"), KubernetesVersion{31});
    EXPECT_EQ(kubernetes_for("4.14.0"), KubernetesVersion{27});
    EXPECT_EQ(kubernetes_for("4.12.0"), KubernetesVersion{27}) << "older than the table";
    EXPECT_EQ(kubernetes_for("4.99.0"), kubernetes_for("")) << "newer than the table";
    EXPECT_EQ(kubernetes_for("5.0.0"), kubernetes_for(""));
    EXPECT_GE(kubernetes_for("").minor, 37U);
}

TEST(ImageFactsTest, WhatTheBlueprintSays) {
    Blueprint blueprint;
    blueprint.architecture = "aarch64";
    for (const char* spec :
         {"microshift-4.18.*", "microshift-olm", "kernel-rt-core-5.14", "jq-*"}) {
        blueprint.packages.push_back({spec, {}});
    }
    blueprint.nvidia.emplace();
    blueprint.nvidia->driver = "535";
    blueprint.nvidia->devices = {"10de:20b7"};
    const ImageFacts facts = facts_of(blueprint);
    EXPECT_EQ(facts.kubernetes, KubernetesVersion{31});
    EXPECT_EQ(facts.architecture, "aarch64");
    EXPECT_EQ(facts.driver, "535");
    EXPECT_THAT(facts.devices, ElementsAre("10de:20b7"));
    EXPECT_THAT(facts.packages,
                ElementsAre("jq", "kernel-rt-core", "microshift", "microshift-olm"));
    EXPECT_FALSE(facts.resolved);
    EXPECT_FALSE(facts.partial);
    EXPECT_TRUE(facts.provided.empty());
    blueprint.microshift.provided = {{"Secret", "app", "s", {}}};
    EXPECT_EQ(facts_of(blueprint).provided.size(), 1U);
    blueprint.nvidia->driver = "latest";
    EXPECT_EQ(facts_of(blueprint).driver, "");
}

TEST(ImageFactsTest, WhatMayBringADriver) {
    EXPECT_TRUE(facts_without_blueprint().may_have_driver);
    EXPECT_FALSE(facts_of(Blueprint{}).may_have_driver);
    for (const char* name : {"nvidia-driver-cuda", "kmod-nvidia-open-dkms", "cuda-drivers"}) {
        EXPECT_TRUE(may_bring_driver({"jq", name})) << name;
    }
    EXPECT_FALSE(may_bring_driver(
        {"nvidia-container-toolkit", "libnvidia-container1", "nvidia-gpu-firmware", "cuda-nvcc"}));
    Blueprint blueprint;
    blueprint.packages.push_back({"@nvidia-driver:535/ks", {}});
    EXPECT_TRUE(facts_of(blueprint).may_have_driver);
    blueprint = {};
    blueprint.nvidia.emplace();
    blueprint.nvidia->gpus = 2;
    EXPECT_TRUE(facts_of(blueprint).may_have_driver);
    EXPECT_EQ(facts_of(blueprint).gpus, 2U);
}

TEST(ImageFactsTest, WhatMayBringManifests) {
    EXPECT_TRUE(facts_without_blueprint().may_have_manifests);
    EXPECT_FALSE(facts_of(Blueprint{}).may_have_manifests);
    Blueprint blueprint;
    blueprint.packages.push_back({"microshift-gitops", {}});
    EXPECT_TRUE(facts_of(blueprint).may_have_manifests);
    blueprint = {};
    blueprint.files.emplace_back().path = "/etc/microshift/manifests.d/app/a.yaml";
    EXPECT_TRUE(facts_of(blueprint).may_have_manifests);
    blueprint = {};
    blueprint.overlays.emplace_back().source = "/no/such/archive.tar";
    EXPECT_TRUE(facts_of(blueprint).may_have_manifests);
    EXPECT_TRUE(facts_of(blueprint).may_have_driver);
    test::TemporaryDirectory directory;
    blueprint.overlays[0].source = directory.path();
    EXPECT_FALSE(facts_of(blueprint).may_have_manifests);
    EXPECT_FALSE(facts_of(blueprint).may_have_driver);
    make_directories(directory.path() / "usr/lib/microshift");
    make_directories(directory.path() / "usr/lib64");
    EXPECT_TRUE(facts_of(blueprint).may_have_manifests);
    EXPECT_TRUE(facts_of(blueprint).may_have_driver);
}

}  // namespace
}  // namespace edgegpu
