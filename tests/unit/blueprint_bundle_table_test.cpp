#include "blueprint/tables/bundle_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint_testing.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class BundleTable : public BlueprintTest {
protected:
    MicroshiftRequest microshift(const std::string& text) {
        return parse("distro = \"lab-12\"\n" + text).microshift;
    }
    /// The failure of a table of `[microshift] bundles` with these keys.
    std::string failure_of_bundle(const std::string& keys) {
        return failure_of("[[microshift.bundles]]\nbundle = \"plugin\"\n" + keys);
    }
};

TEST_F(BundleTable, Everything) {
    write_file(directory_ / "patch.yaml", "- {op: remove, path: /spec}\n");
    const MicroshiftRequest read = microshift(R"([microshift]
manifests = "/usr/lib/microshift/manifests.d"
tombstones = 2
delete_data = true
bundles = ["plugin", { bundle = "plugin", name = "second", namespace = "other", components = [
  "time-slicing"], images = [
  { name = "registry:5000/a/b", newName = "c/d", newTag = "1.2" }], replicas = [
  { name = "app", count = 0 }], patches = [
  { patch = "kind: X\n", target = { kind = "X", labelSelector = "a=b" } },
  { path = "patch.yaml" }], values = { settings = { "a.yaml" = "x: 1\n", b = "" } } }]
)");
    EXPECT_EQ(read.manifests, ManifestsPlace::usr);
    EXPECT_EQ(read.tombstones, 2);
    EXPECT_TRUE(read.delete_data);
    ASSERT_EQ(read.bundles.size(), 2U);
    EXPECT_EQ(read.bundles[0].name, "plugin");
    const BundleRequest& bundle = read.bundles[1];
    EXPECT_EQ(bundle.name, "second");
    EXPECT_EQ(bundle.source, read.bundles[0].source);
    EXPECT_EQ(bundle.name_space, "other");
    ASSERT_EQ(bundle.components.size(), 1U);
    EXPECT_EQ(bundle.components[0].name, "time-slicing");
    ASSERT_EQ(bundle.images.size(), 1U);
    EXPECT_EQ(bundle.images[0].name, "registry:5000/a/b");
    EXPECT_EQ(bundle.images[0].new_name, "c/d");
    EXPECT_EQ(bundle.images[0].new_tag, "1.2");
    ASSERT_EQ(bundle.replicas.size(), 1U);
    EXPECT_EQ(bundle.replicas[0].count, 0);
    ASSERT_EQ(bundle.patches.size(), 2U);
    EXPECT_EQ(bundle.patches[0].text, "kind: X\n");
    ASSERT_TRUE(bundle.patches[0].target);
    EXPECT_EQ(bundle.patches[0].target->label_selector, "a=b");
    EXPECT_EQ(bundle.patches[1].text, "- {op: remove, path: /spec}\n");
    EXPECT_FALSE(bundle.patches[1].target);
    ASSERT_EQ(bundle.values.size(), 1U);
    EXPECT_EQ(bundle.values[0].name, "settings");
    EXPECT_THAT(bundle.values[0].entries, ElementsAre(Pair("a.yaml", "x: 1\n"), Pair("b", "")));
}

TEST_F(BundleTable, Defaults) {
    const MicroshiftRequest read = microshift("[[microshift.bundles]]\nbundle = \"./mine/app\"\n");
    EXPECT_EQ(read.manifests, ManifestsPlace::root);
    EXPECT_EQ(read.tombstones, 5);
    EXPECT_FALSE(read.delete_data);
    ASSERT_EQ(read.bundles.size(), 1U);
    EXPECT_EQ(read.bundles[0].name, "app");
}

TEST_F(BundleTable, HostileStrings) {
    EXPECT_THAT(failure_of_bundle("namespace = \"a\\nresources: [x]\"\n"),
                HasSubstr("contains a control character"));
    for (const char* bad : {"Upper", "-a", "a-", "a.b", "a b", "a'", "$(x)"}) {
        EXPECT_THAT(failure_of_bundle(fmt::format("namespace = \"{}\"\n", bad)),
                    HasSubstr("invalid microshift.bundles.namespace"))
            << bad;
    }
    EXPECT_THAT(failure_of_bundle("namespace = \"" + std::string(64, 'a') + "\"\n"),
                HasSubstr("at most 63 characters"));
    for (const char* bad : {"a'b", "a\\\"b", "a:1", "a@sha256:1", "a(b", "a.*", "a/", ""}) {
        EXPECT_THAT(
            failure_of_bundle(fmt::format("images = [{{ name = \"{}\", newTag = \"1\" }}]\n", bad)),
            HasSubstr("microshift.bundles.images.name"))
            << bad;
    }
    EXPECT_THAT(failure_of_bundle("images = [{ name = \"a\", newTag = \"1'\" }]\n"),
                HasSubstr("invalid microshift.bundles.images.newTag"));
    EXPECT_THAT(failure_of_bundle("images = [{ name = \"a\", digest = \"sha256:1\" }]\n"),
                HasSubstr("64 hexadecimal digits"));
    EXPECT_THAT(failure_of_bundle("images = [{ name = \"a\" }]\n"),
                HasSubstr("nothing of image \"a\" changes"));
    EXPECT_THAT(failure_of_bundle("images = [{ name = \"a\", newTag = \"1\", digest = \"sha256:" +
                                  std::string(64, 'a') + "\" }]\n"),
                HasSubstr("both newTag and digest"));
    EXPECT_THAT(failure_of_bundle("images = [{ name = \"a\", new_tag = \"1\" }]\n"),
                HasSubstr("did you mean \"microshift.bundles.images.newTag\"?"));
    EXPECT_THAT(failure_of_bundle("replicas = [{ name = \"a\", count = -1 }]\n"),
                HasSubstr("microshift.bundles.replicas.count"));
    EXPECT_THAT(failure_of_bundle("replicas = [{ name = \"a\" }]\n"), HasSubstr("is missing"));
    EXPECT_THAT(failure_of_bundle("components = [\"../x\"]\n"),
                HasSubstr("invalid name of a component \"../x\""));
    EXPECT_THAT(failure_of_bundle("values = { a = { \"..x\" = \"1\" } }\n"),
                HasSubstr("\"..x\" is not a valid key of a config map"));
    EXPECT_THAT(failure_of_bundle("values = { \"a/b\" = { x = \"1\" } }\n"),
                HasSubstr("\"a/b\" is not a valid name of a config map"));
    EXPECT_THAT(failure_of_bundle("values = { a = { x = 1 } }\n"), HasSubstr("a string"));
    EXPECT_THAT(failure_of_bundle("values = { a = {} }\n"), HasSubstr("gets no values"));
}

TEST_F(BundleTable, Patches) {
    EXPECT_THAT(failure_of_bundle("patches = [{ patch = \"x\", path = \"y\" }]\n"),
                HasSubstr("both patch and path"));
    EXPECT_THAT(failure_of_bundle("patches = [{ target = { kind = \"X\" } }]\n"),
                HasSubstr("no patch"));
    EXPECT_THAT(failure_of_bundle("patches = [{ patch = \" \" }]\n"),
                HasSubstr("the patch is empty"));
    EXPECT_THAT(failure_of_bundle("patches = [{ path = \"nix.yaml\" }]\n"),
                HasSubstr("b.toml:4:21: cannot read the patch: "));
    EXPECT_THAT(failure_of_bundle("patches = [{ patch = \"x\", target = {} }]\n"),
                HasSubstr("the patch's target is empty"));
}

TEST_F(BundleTable, Names) {
    EXPECT_THAT(failure_of("microshift.bundles = [\"a\", { bundle = \"x/a\" }]\n"),
                HasSubstr("duplicate bundle \"a\""));
    EXPECT_THAT(failure_of_bundle("name = \"../x\"\n"), HasSubstr("invalid name of a bundle"));
    EXPECT_THAT(failure_of_bundle("name = \"delete\"\n"),
                HasSubstr("a bundle cannot be called \"delete\""));
    EXPECT_THAT(failure_of("[[microshift.bundles]]\nname = \"x\"\n"),
                HasSubstr("\"microshift.bundles.bundle\" is missing"));
    EXPECT_THAT(failure_of("microshift.bundles = [1]\n"),
                HasSubstr("an array of strings and tables"));
    EXPECT_THAT(failure_of("microshift.manifests = \"/etc\"\n"),
                HasSubstr("\"/etc/microshift/manifests.d\""));
    EXPECT_THAT(failure_of("microshift.tombstones = -1\n"), HasSubstr("microshift.tombstones"));
}

}  // namespace
}  // namespace edgegpu
