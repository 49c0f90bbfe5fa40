#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/tables/tables.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view before_parent =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n[parent]\n";

class ParentTableTest : public BlueprintTest {
protected:
    [[nodiscard]] ParentRequest parent(const std::string& text) const {
        return parse(std::string(before_parent) + text).parent.value();
    }
    /// The error of checking a blueprint with this text in its table, from line 8 on.
    [[nodiscard]] std::string mistakes(const std::string& text) const {
        return failure(std::string(before_parent) + text, true);
    }
    static std::string by_digest() { return "quay.io/x/node@sha256:" + std::string(64, 'a'); }
};

TEST_F(ParentTableTest, IsACommitOfARepository) {
    const ParentRequest read = parent("repository = \"repo\"\nref = \"a/b\"\n");
    EXPECT_EQ(read.repository, directory_ / "repo");
    EXPECT_EQ(read.ref, "a/b");
    EXPECT_FALSE(read.image.has_value());
    EXPECT_EQ(parent("repository = \"/r\"\nref = \"" + std::string(64, 'b') + "\"\n").ref,
              std::string(64, 'b'));
    EXPECT_THAT(mistakes("ref = \"a\"\n"), HasSubstr("repository"));
    EXPECT_THAT(mistakes("repository = \"/r\"\n"), HasSubstr("ref"));
    EXPECT_THAT(mistakes("repository = \"/r\"\nref = \"a//b\"\n"), HasSubstr("b.toml:9:"));
    EXPECT_THAT(mistakes("repository = \"/nowhere\"\nref = \"a\"\n"),
                HasSubstr("b.toml:7:1: repository not found: /nowhere"));
}

TEST_F(ParentTableTest, OrAnImage) {
    const ParentRequest read = parent("image = \"" + by_digest() + "\"\ntls-verify = false\n");
    ASSERT_TRUE(read.image.has_value());
    EXPECT_EQ(read.image->source, "docker://" + by_digest());
    EXPECT_FALSE(read.image->tls_verify);
    EXPECT_TRUE(read.repository.empty());
    const ParentRequest local = parent("image = \"oci:images/node:1\"\n");
    EXPECT_EQ(local.image->located, "oci:" + (directory_ / "images/node").string() + ":1");
    EXPECT_TRUE(local.image->tls_verify);
}

TEST_F(ParentTableTest, AnImageOfARegistryIsNamedByItsDigest) {
    EXPECT_THAT(mistakes("image = \"quay.io/x/node:4.18\"\n"),
                AllOf(HasSubstr("b.toml:8:9: "), HasSubstr("named by its digest"),
                      HasSubstr("quay.io/x/node@sha256:"), HasSubstr("skopeo inspect")));
    EXPECT_THAT(mistakes("image = \"containers-storage:x\"\n"),
                HasSubstr("not a supported source of an image"));
    EXPECT_THAT(mistakes("image = \"Quay.io/X@sha256:1\"\n"),
                HasSubstr("is not the name of a container image"));
}

TEST_F(ParentTableTest, NotBoth) {
    EXPECT_THAT(mistakes("image = \"" + by_digest() + "\"\nrepository = \"/\"\nref = \"a\"\n"),
                AllOf(HasSubstr("b.toml:9:14: repository together with image"),
                      HasSubstr("b.toml:10:7: ref together with image")));
}

TEST_F(ParentTableTest, APackageSetIsNotTheDefaultOfALayer) {
    const auto text = [](const char* more) {
        return fmt::format(
            "distro = \"rhel-9.4\"\n[parent]\nimage = \"oci:/x\"\n{}"
            "[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n",
            more);
    };
    EXPECT_TRUE(parse(text("")).package_set.name.empty());
    EXPECT_THAT(failure(text("[image]\npackage_set = \"edge-commit\"\n"), true),
                HasSubstr("b.toml:5:15: package_set cannot be used together with [parent]"));
}

TEST_F(ParentTableTest, ALayerMayHaveBundlesAndUpdates) {
    const Blueprint read = parse(std::string(before_parent) +
                                 "image = \"oci:/x\"\n[updates]\n[microshift]\nmanifests = "
                                 "\"/etc/microshift/manifests.d\"\n"
                                 "[ostree]\nref = \"a\"\nurl = \"https://example.invalid/\"\n");
    EXPECT_TRUE(read.parent && read.updates);
}

}  // namespace
}  // namespace edgegpu
