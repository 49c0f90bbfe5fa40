#include "bundles/install/parent_bundles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_fixture.hpp"
#include "log/console.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string config_map(const std::string& name, const std::string& name_space) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
           (name_space.empty() ? "" : "\n  namespace: " + name_space) + '\n';
}

class ParentBundles : public OwnPath {
protected:
    void SetUp() override { link_real_kustomize(); }

    void parent_has(const std::string& directory, const std::string& objects) {
        parent_["/etc/microshift/" + directory + "/kustomization.yaml"] = "resources: [a.yaml]\n";
        parent_["/etc/microshift/" + directory + "/a.yaml"] = objects;
    }
    /// What is said of a layer whose bundle "app" has these objects; empty: nothing.
    [[nodiscard]] std::string check(const std::string& objects) const {
        Console console(Color::never, true);
        Context ctx;
        ctx.console = &console;
        const RenderedBundle bundle =
            render_bundle(ctx, find_renderer(ctx),
                          {"app",
                           "/home/app",
                           {},
                           {{"kustomization.yaml", "resources: [a.yaml]\n"}, {"a.yaml", objects}}});
        try {
            check_beside_parent(ctx, {bundle}, parent_, KubernetesVersion{31});
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::usage);
            return failure.message();
        }
        return console.warnings().empty() ? "" : console.warnings().front();
    }

private:
    ManifestFiles parent_;
};

TEST_F(ParentBundles, OthersAreNotInTheWay) {
    parent_has("manifests.d/base", config_map("a", "x"));
    parent_has("manifests.d/delete/old", config_map("b", "x"));
    EXPECT_EQ(check(config_map("c", "x")), "");
    EXPECT_EQ(check(config_map("a", "y")), "");
}

TEST_F(ParentBundles, AnObjectOfBothIsRefused) {
    parent_has("manifests.d/base", config_map("a", ""));
    EXPECT_THAT(check(config_map("a", "default")),
                AllOf(HasSubstr("ConfigMap default/a is in /etc/microshift/manifests.d/base of"),
                      HasSubstr("the last one wins")));
}

TEST_F(ParentBundles, AllVersionsOfAGroupAreOneObject) {
    const std::string rest =
        "kind: HorizontalPodAutoscaler\nmetadata:\n  name: a\n  namespace: x\n";
    parent_has("manifests", "apiVersion: autoscaling/v1\n" + rest);
    EXPECT_THAT(check("apiVersion: autoscaling/v2\n" + rest),
                HasSubstr("is in /etc/microshift/manifests of the parent"));
}

TEST_F(ParentBundles, WhatTheParentDeletesCannotComeBackInALayer) {
    parent_has("manifests.d/delete/old", config_map("a", "x"));
    EXPECT_THAT(check(config_map("a", "x")),
                HasSubstr("is deleted by /etc/microshift/manifests.d/delete/old of the parent"));
}

TEST_F(ParentBundles, ABundleThatDoesNotRenderIsSaid) {
    parent_has("manifests.d/base", "{");
    EXPECT_THAT(check(config_map("a", "x")),
                HasSubstr("/etc/microshift/manifests.d/base of the parent does not render"));
}

}  // namespace
}  // namespace edgegpu::test
