#include <string>

#include <gtest/gtest.h>

#include "blueprint_testing.hpp"

namespace edgegpu {
namespace {

const std::string head =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"https://example.com\"\n";

class ContainersTableTest : public BlueprintTest {
protected:
    std::vector<ContainerRequest> containers(const std::string& text) {
        return parse(head + text).containers;
    }
    /// The message without hint; lines count from the table's first.
    std::string refused(const std::string& text) {
        const std::string message = failure(head + text);
        return message.substr(0, message.find('\n'));
    }
};

TEST_F(ContainersTableTest, ImageBuildersKeys) {
    const auto read = containers(
        "[[containers]]\nsource = \"quay.io/x/app:1\"\n"
        "[[containers]]\nsource = \"docker://localhost:5000/y\"\nname = \"localhost/y:2\"\n"
        "tls-verify = false\nlocal-storage = false\n");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].source, "docker://quay.io/x/app:1");
    EXPECT_EQ(read[0].located, read[0].source);
    EXPECT_EQ(read[0].name, "quay.io/x/app:1");
    EXPECT_TRUE(read[0].tls_verify);
    EXPECT_EQ(read[1].source, "docker://localhost:5000/y:latest");
    EXPECT_EQ(read[1].name, "localhost/y:2");
    EXPECT_FALSE(read[1].tls_verify);
}

TEST_F(ContainersTableTest, FilesAreBesideTheBlueprint) {
    const auto read = containers(
        "[[containers]]\nsource = \"oci:images/app:1\"\nname = \"localhost/app:1\"\n"
        "[[containers]]\nsource = \"docker-archive:/srv/a.tar\"\nname = \"localhost/b\"\n");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].source, "oci:images/app:1");
    EXPECT_EQ(read[0].located, "oci:" + (directory_ / "images/app:1").string());
    EXPECT_EQ(read[1].located, "docker-archive:/srv/a.tar");
    EXPECT_EQ(read[1].name, "localhost/b:latest");
}

TEST_F(ContainersTableTest, ADigestIsPulledAndTheTagIsTheName) {
    const std::string digest = "@sha256:" + std::string(64, 'a');
    const auto read = containers("[[containers]]\nsource = \"quay.io/x/app:1" + digest + "\"\n");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].source, "docker://quay.io/x/app" + digest);
    EXPECT_EQ(read[0].name, "quay.io/x/app:1");
}

TEST_F(ContainersTableTest, TheStoreIsInTheCommit) {
    EXPECT_EQ(
        refused("[[containers]]\nsource = \"a\"\n[customizations.containers-storage]\n"
                "destination-path = \"/var/lib/images\"\n"),
        "error: b.toml:8:20: [[containers]] cannot be in /var/lib/images: that is the device's, "
        "and a commit has nothing there");
    EXPECT_NE(refused("[[containers]]\nsource = \"a\"\n[customizations.containers-storage]\n"
                      "destination-path = \"/usr/local/share/images\"\n")
                  .find("[[containers]] cannot be in /usr/local/share/images"),
              std::string::npos)
        << "a link into /var";
}

TEST_F(ContainersTableTest, MistakesHaveALine) {
    EXPECT_EQ(refused("[[containers]]\nsource = \"--help\"\n"),
              "error: b.toml:6:10: \"--help\" is not the name of a container image");
    EXPECT_EQ(refused("[[containers]]\nsource = \"oci:images/app\"\n"),
              "error: b.toml:6:10: image oci:images/app needs a name");
    EXPECT_EQ(refused("[[containers]]\nsource = \"a\"\nlocal-storage = true\n"),
              "error: b.toml:7:17: not supported: local-storage, an image of the build machine's "
              "own store");
    EXPECT_EQ(refused("[[containers]]\nsource = \"https://quay.io/a\"\n"),
              "error: b.toml:6:10: \"https://quay.io/a\" is not a supported source of an image");
    EXPECT_EQ(refused("[[containers]]\nsource = \"a\"\nname = \"A\"\n"),
              "error: b.toml:7:8: \"A\" is not the name of a container image");
    EXPECT_EQ(refused("[[containers]]\nsource = \"a\"\n[[containers]]\nsource = \"b\"\nname = "
                      "\"docker.io/library/a:latest\"\n"),
              "error: b.toml:8:10: two images are called docker.io/library/a:latest (the other at "
              "line 6)");
    EXPECT_EQ(refused("[[containers]]\nsource = \"a\"\ntls_verify = true\n").substr(0, 20),
              "error: b.toml:7:1: u");
}

}  // namespace
}  // namespace edgegpu
