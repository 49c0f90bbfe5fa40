#include "bundles/checks/namespaces_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string namespaces_of(const std::vector<std::string>& texts,
                          const ImageFacts& facts = plain_facts()) {
    return said_of(
        texts,
        [](const KnownObjects& known, const std::vector<PodTemplate>&, Findings& findings) {
            check_namespaces(known, findings);
            check_duplicates(known, findings);
        },
        facts);
}

const std::string map = object("v1", "ConfigMap", "a", "app");
const std::string app = object("v1", "Namespace", "app");

TEST(NamespacesCheckTest, ANamespaceThatNobodyBrings) {
    EXPECT_THAT(namespaces_of({map}),
                AllOf(HasSubstr("/home/user/b0/a.yaml:5:14: ConfigMap app/a: no bundle has the "
                                "namespace app"),
                      HasSubstr("provided = [\"Namespace app\"]")));
    EXPECT_EQ(namespaces_of({map + "---\n" + app}), "");
    ImageFacts facts = plain_facts();
    facts.provided = {{"Namespace", "", "app", {}}};
    EXPECT_EQ(namespaces_of({map}, facts), "");
    facts.provided.clear();
    facts.partial = true;
    EXPECT_EQ(namespaces_of({map}, facts), "");
    EXPECT_EQ(namespaces_of({object("v1", "ConfigMap", "a")}), "") << "it is put into default";
    EXPECT_EQ(namespaces_of({object("v1", "Node", "a", "app")}), "") << "belongs to none";
}

TEST(NamespacesCheckTest, OneMessagePerBundle) {
    const std::string said = namespaces_of({map + "---\n" + object("v1", "Secret", "s", "app")});
    EXPECT_THAT(said, AllOf(HasSubstr("ConfigMap app/a"), Not(HasSubstr("Secret app/s"))));
}

TEST(NamespacesCheckTest, TheOrderOfBundles) {
    EXPECT_EQ(namespaces_of({app, map}), "");
    EXPECT_EQ(namespaces_of({map, app}), "") << "as one";
    ImageFacts facts = plain_facts();
    facts.manifests = ManifestsPlace::etc;
    EXPECT_EQ(namespaces_of({app, map}, facts), "");
    EXPECT_THAT(namespaces_of({map, app}, facts),
                HasSubstr("the namespace app is in bundle \"b1\", which MicroShift applies after"));
}

TEST(NamespacesCheckTest, NamespacesOfMicroShift) {
    for (const char* name : {"default", "kube-system", "openshift-ingress", "openshift-storage"}) {
        EXPECT_EQ(namespaces_of({object("v1", "ConfigMap", "a", name)}), "") << name;
    }
    EXPECT_NE(namespaces_of({object("v1", "ConfigMap", "a", "openshift-config")}), "");
    ImageFacts facts = plain_facts();
    const std::string network = object("v1", "ConfigMap", "a", "openshift-multus");
    EXPECT_EQ(namespaces_of({network}, facts), "") << "the packages are not known yet";
    facts.resolved = true;
    EXPECT_THAT(namespaces_of({network}, facts), HasSubstr("the package microshift-multus"));
    facts.packages = {"microshift-multus"};
    EXPECT_EQ(namespaces_of({network}, facts), "");
}

TEST(NamespacesCheckTest, TheSameObjectTwice) {
    EXPECT_THAT(namespaces_of({app + "---\n" + map, map}),
                HasSubstr("ConfigMap app/a: bundle \"b0\" has it, too"));
    EXPECT_THAT(namespaces_of({app, app}), HasSubstr("Namespace app: bundle \"b0\" has it, too"));
    EXPECT_THAT(
        namespaces_of({object("v1", "ConfigMap", "a"), object("v1", "ConfigMap", "a", "default")}),
        HasSubstr("has it, too"));
    EXPECT_THAT(namespaces_of({object("v1", "ConfigMap", "a") + "---\n" +
                               object("v1", "ConfigMap", "a", "default")}),
                HasSubstr("the bundle has it twice"));
    EXPECT_EQ(namespaces_of({object("v1", "ConfigMap", "a"), object("v1", "Secret", "a")}), "");
}

}  // namespace
}  // namespace edgegpu::test
