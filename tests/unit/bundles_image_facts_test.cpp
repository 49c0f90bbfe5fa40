#include "bundles/checks/image_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace edgegpu
