#include "microshift/effective_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(EffectiveConfigTest, MergesInTheOrderOfMicroshift) {
    const EffectiveConfig config = effective_config(
        {{"/etc/microshift/config.d/00-a.yaml",
          "network: {multus: {status: Enabled}, clusterNetwork: [10.1.0.0/16, 'fd01::/48']}\n"},
         {"/etc/microshift/config.d/10-edgegpu.yaml",
          "network: {clusterNetwork: [10.2.0.0/16]}\ndns: {baseDomain: a.b}\n---\nignored: 1\n"},
         {"/etc/microshift/config.d/20-b.yaml", "dns: ~\n"},
         {"/etc/microshift/config.d/30-empty.yaml", "# nothing\n"},
         {"/etc/microshift/config.yaml", "network: {multus: {status: Disabled}}\nnode: {x: 1}\n"}});
    EXPECT_EQ(config.values, json::parse(R"({"network": {"multus": {"status": "Enabled"},
                                             "clusterNetwork": ["10.2.0.0/16"]}, "node": {"x": 1}})"));
    EXPECT_THAT(config.unreadable, ElementsAre());
}

TEST(EffectiveConfigTest, PassesOverWhatIsNoYaml) {
    const EffectiveConfig config =
        effective_config({{"/etc/microshift/config.d/1.yaml", "a: [\n"},
                          {"/etc/microshift/config.d/2.yaml", "- a\n"},
                          {"/etc/microshift/config.d/3.yaml", std::string(5000, '[')},
                          {"/etc/microshift/config.d/4.yaml", std::string("\0\xff", 2)},
                          {"/etc/microshift/config.yaml", "dns: {baseDomain: x}\n"}});
    EXPECT_EQ(config.values, json::parse(R"({"dns": {"baseDomain": "x"}})"));
    EXPECT_THAT(config.unreadable,
                ElementsAre(HasSubstr("/etc/microshift/config.d/1.yaml:"),
                            "/etc/microshift/config.d/2.yaml:1:1: it is not a mapping",
                            HasSubstr("/etc/microshift/config.d/3.yaml:"),
                            HasSubstr("/etc/microshift/config.d/4.yaml:")));
}

TEST(EffectiveConfigTest, KnowsItsFiles) {
    EXPECT_TRUE(is_config_file("/etc/microshift/config.yaml"));
    EXPECT_TRUE(is_config_file("/etc/microshift/config.d/10-edgegpu.yaml"));
    EXPECT_TRUE(is_config_file("/etc/microshift/config.d/sub/a.yaml"));
    EXPECT_FALSE(is_config_file("/etc/microshift/config.yaml.default"));
    EXPECT_FALSE(is_config_file("/etc/microshift/config.d/a.yml"));
    EXPECT_FALSE(is_config_file("/etc/microshift/manifests/kustomization.yaml"));
}

}  // namespace
}  // namespace edgegpu
