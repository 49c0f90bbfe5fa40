#include <gtest/gtest.h>

#include "blueprint_testing.hpp"

namespace edgegpu {
namespace {

class MicroshiftConfigTableTest : public BlueprintTest {
protected:
    [[nodiscard]] MicroshiftRequest read(std::string_view text) const {
        return parse("distro = \"lab-12\"\n" + std::string(text)).microshift;
    }
};

TEST_F(MicroshiftConfigTableTest, IsOneDocumentHoweverItIsWritten) {
    const MicroshiftRequest first = read(
        "[microshift.config]\nnetwork = { clusterNetwork = [\"10.1.0.0/16\"] }\n"
        "dns.baseDomain = \"a\\nb \\\"c\\\"\"\netcd.memoryLimitMB = 0x80\nkubelet.x.y = true\n"
        "kubelet.factor = 1.5\n");
    ASSERT_TRUE(first.config);
    EXPECT_EQ(first.config->document,
              R"({"dns":{"baseDomain":"a\nb \"c\""},"etcd":{"memoryLimitMB":128},)"
              R"("kubelet":{"factor":1.5,"x":{"y":true}},)"
              R"("network":{"clusterNetwork":["10.1.0.0/16"]}})");
    const MicroshiftRequest second = read(
        "[microshift.config.kubelet]\nfactor = 1.5\n[microshift.config.kubelet.x]\ny = true\n"
        "[microshift.config.etcd]\nmemoryLimitMB = 128\n"
        "[microshift.config.network]\nclusterNetwork = [\n  \"10.1.0.0/16\"\n]\n"
        "[microshift.config.dns]\nbaseDomain = '''a\nb \"c\"'''\n");
    ASSERT_TRUE(second.config);
    EXPECT_EQ(second.config->document, first.config->document);
    EXPECT_EQ(first.config->places.at("/etcd/memoryLimitMB").line, 5U);
    EXPECT_EQ(first.config->places.at("/etcd/memoryLimitMB").column, 6U);
    EXPECT_EQ(second.config->places.at("/network/clusterNetwork/0").line, 10U);
    EXPECT_EQ(second.config->places.at("/network/clusterNetwork/0").column, 3U);
    EXPECT_EQ(first.config->location.line, 2U);
}

TEST_F(MicroshiftConfigTableTest, IsAbsentOrEmpty) {
    EXPECT_FALSE(read("[microshift]\nbundles = []\n").config);
    EXPECT_FALSE(read("[microshift.config]\n").config);
    EXPECT_TRUE(read("[microshift]\n").firewall);
    EXPECT_FALSE(read("[microshift]\nfirewall = false\n").firewall);
}

TEST_F(MicroshiftConfigTableTest, RefusesWhatYamlWouldReadOtherwise) {
    EXPECT_EQ(failure_of("[microshift.config]\nkubelet.a = 1979-05-27\nkubelet.b = [nan, -inf]\n"
                         "kubelet.c = 07:32:00\nkubelet.d = 1979-05-27T07:32:00Z\n"),
              "error: b.toml:3:13: a date cannot be written as YAML here\n"
              "hint: write it in quotes if a string is meant\n"
              "error: b.toml:4:14: inf or nan cannot be written as YAML here\n"
              "error: b.toml:4:19: inf or nan cannot be written as YAML here\n"
              "error: b.toml:5:13: a time cannot be written as YAML here\n"
              "error: b.toml:6:13: a date cannot be written as YAML here\n");
    EXPECT_EQ(failure_of("[microshift]\nconfig = \"x\"\n"),
              "error: b.toml:3:10: \"microshift.config\" must be a table, not a string\n");
}

TEST_F(MicroshiftConfigTableTest, TakesOddKeysAndRefusesDeepOnes) {
    const MicroshiftRequest odd =
        read("[microshift.config.kubelet]\n\"a\\n/~\\\"\" = 1\n\"\" = 2\n\"\\u0000\" = 3\n");
    ASSERT_TRUE(odd.config);
    EXPECT_EQ(odd.config->document, "{\"kubelet\":{\"\":2,\"\\u0000\":3,\"a\\n/~\\\"\":1}}");
    EXPECT_EQ(odd.config->places.at("/kubelet/a\n~1~0\"").line, 3U);
    EXPECT_NE(failure_of("[microshift.config]\nkubelet.a = " + std::string(100000, '[')).find("64"),
              std::string::npos);
    EXPECT_NE(
        failure_of("[microshift.config]\nkubelet.a = 9223372036854775808\n").find("malformed TOML"),
        std::string::npos);
}

}  // namespace
}  // namespace edgegpu
