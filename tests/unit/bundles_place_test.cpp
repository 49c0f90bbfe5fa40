#include "bundles/install/place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

class PlaceTest : public OwnPath {
protected:
    /// A bundle of one config map.
    static BundleFiles bundle(const std::string& name, std::uint32_t line,
                              const std::string& name_space,
                              const std::string& kustomization = "") {
        return {name,
                "/home/user/" + name,
                {"b.toml", line, 1},
                {{"kustomization.yaml", "resources: [a.yaml]\n" + kustomization},
                 {"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: " +
                                name_space + "}\n"}}};
    }
    static std::vector<RenderedBundle> rendered(const std::vector<BundleFiles>& all) {
        std::vector<RenderedBundle> result;
        result.reserve(all.size());
        for (const BundleFiles& files : all) {
            result.push_back(render_bundle({}, find_renderer({}), files));
        }
        return result;
    }
    static std::string failure(const std::vector<RenderedBundle>& bundles,
                               ManifestsPlace place = ManifestsPlace::root) {
        try {
            check_together({}, bundles, place);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.render();
        }
        return "none";
    }
};

TEST_F(PlaceTest, Places) {
    link_real_kustomize();
    const auto two = rendered({bundle("b", 1, "x"), bundle("a", 2, "y")});
    const ManifestFiles root = place_bundles(two, ManifestsPlace::root);
    EXPECT_THAT(root, ElementsAre(Key("/etc/microshift/manifests/a/a.yaml"),
                                  Key("/etc/microshift/manifests/a/kustomization.yaml"),
                                  Key("/etc/microshift/manifests/b/a.yaml"),
                                  Key("/etc/microshift/manifests/b/kustomization.yaml"),
                                  Key("/etc/microshift/manifests/kustomization.yaml")));
    EXPECT_EQ(root.at("/etc/microshift/manifests/kustomization.yaml"),
              "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
              "resources:\n- \"b\"\n- \"a\"\n");
    EXPECT_THAT(place_bundles({two[0]}, ManifestsPlace::usr),
                ElementsAre(Key("/usr/lib/microshift/manifests.d/b/a.yaml"),
                            Key("/usr/lib/microshift/manifests.d/b/kustomization.yaml")));
    EXPECT_THAT(place_bundles({two[1]}, ManifestsPlace::etc),
                ElementsAre(Key("/etc/microshift/manifests.d/a/a.yaml"),
                            Key("/etc/microshift/manifests.d/a/kustomization.yaml")));
    EXPECT_TRUE(place_bundles({}, ManifestsPlace::root).empty());
    EXPECT_EQ(failure(two), "none");
}

TEST_F(PlaceTest, AnObjectInTwoBundles) {
    link_real_kustomize();
    const auto two = rendered({bundle("one", 1, "x"), bundle("two", 2, "x")});
    const std::string said = failure(two);
    EXPECT_THAT(said, HasSubstr("b.toml:2:1: bundle \"two\": ConfigMap x/a is also in bundle "
                                "\"one\": they cannot be applied together"));
    EXPECT_THAT(said, HasSubstr("manifests = \"/etc/microshift/manifests.d\""));
    EXPECT_EQ(failure(two, ManifestsPlace::etc), "none");
    EXPECT_EQ(failure(two, ManifestsPlace::usr), "none");
}

TEST_F(PlaceTest, WhatKustomizeMakesOfAllTogetherIsCompared) {
    link_real_kustomize();
    auto two = rendered({bundle("one", 1, "x"), bundle("two", 2, "y")});
    two[1].objects[0].text += "# other\n";
    EXPECT_THAT(failure(two), HasSubstr("b.toml:2:1: bundle \"two\": ConfigMap y/a is not the same "
                                        "when kustomize renders all bundles together"));
}

}  // namespace
}  // namespace edgegpu::test
