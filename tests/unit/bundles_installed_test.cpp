#include "bundles/install/installed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> sources(const std::vector<BundleFiles>& bundles) {
    std::vector<std::string> found;
    found.reserve(bundles.size());
    for (const BundleFiles& bundle : bundles) {
        found.push_back(bundle.name + '=' + bundle.source.string());
    }
    return found;
}

TEST(Installed, EveryPlace) {
    const ManifestFiles files{
        {"/etc/microshift/manifests/kustomization.yaml", "kind: Kustomization\nresources: [a]\n"},
        {"/etc/microshift/manifests/a/kustomization.yaml", "resources: []\n"},
        {"/etc/microshift/manifests.d/c/kustomization.yml", ""},
        {"/etc/microshift/manifests.d/none/x.yaml", ""},
        {"/etc/microshift/manifests.d/README", ""},
        {"/etc/microshift/manifests.d/delete/old/kustomization.yaml", ""},
        {"/usr/lib/microshift/manifests/kustomization.yaml", "resources: [x.yaml]\n"},
        {"/usr/lib/microshift/manifests/x.yaml", ""},
        {"/usr/lib/microshift/manifests.d/d/Kustomization", ""},
        {"/usr/lib/microshift/manifests.d/d/deep/x.yaml", "x"},
    };
    const std::vector<BundleFiles> bundles = installed_bundles(files);
    EXPECT_THAT(
        sources(bundles),
        ElementsAre("manifests=/usr/lib/microshift/manifests", "a=/etc/microshift/manifests/a",
                    "d=/usr/lib/microshift/manifests.d/d", "c=/etc/microshift/manifests.d/c"));
    EXPECT_EQ(bundles[2].files.at("deep/x.yaml"), "x");
    EXPECT_THAT(sources(installed_tombstones(files)),
                ElementsAre("old=/etc/microshift/manifests.d/delete/old"));
}

TEST(Installed, ARootThatDoesMoreIsOneBundle) {
    for (const char* more : {"namespace: x\n", "resources: [a/b]\n", "resources: [../a]\n",
                             "resources: [a, gone]\n", "[\n"}) {
        const ManifestFiles files{{"/etc/microshift/manifests/kustomization.yaml", more},
                                  {"/etc/microshift/manifests/a/kustomization.yaml", ""}};
        EXPECT_THAT(sources(installed_bundles(files)),
                    ElementsAre("manifests=/etc/microshift/manifests"))
            << more;
    }
}

TEST(Installed, ANameThatIsRepeatedCountsOnce) {
    const std::string place = "/etc/microshift/manifests/";
    const ManifestFiles files{{place + "kustomization.yaml", "resources: [b, a, a, b, a]\n"},
                              {place + "a/kustomization.yaml", ""},
                              {place + "b/kustomization.yaml", ""}};
    EXPECT_THAT(sources(installed_bundles(files)),
                ElementsAre("a=/etc/microshift/manifests/a", "b=/etc/microshift/manifests/b"));
}

TEST(Installed, Nothing) {
    EXPECT_THAT(installed_bundles({}), IsEmpty());
    EXPECT_THAT(installed_tombstones({}), IsEmpty());
}

}  // namespace
}  // namespace edgegpu::test
