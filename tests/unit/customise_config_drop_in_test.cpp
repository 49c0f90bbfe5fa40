#include "customise/microshift/config_drop_in.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::ElementsAre;

class ConfigDropIn : public TreeTest {
protected:
    void microshift() { tree.packages.push_back({"microshift", 0, "4.18.14", "1", "x86_64"}); }
    static MicroshiftConfig config(const char* document) {
        return {document, {}, {"b.toml", 7, 1}};
    }
};

TEST_F(ConfigDropIn, IsWrittenAsYaml) {
    microshift();
    add_microshift_config(ctx, std::nullopt, false, tree);
    EXPECT_EQ(find_entry(tree, config_drop_in), nullptr);
    add_microshift_config(
        ctx, config(R"({"dns":{"baseDomain":"no"},"etcd":{"memoryLimitMB":128}})"), false, tree);
    EXPECT_EQ(text("/etc/microshift/config.d/10-edgegpu.yaml"),
              "# [microshift.config] of the blueprint. Files of this directory that sort after "
              "this one override it.\n"
              "dns:\n  baseDomain: \"no\"\netcd:\n  memoryLimitMB: 128\n");
    EXPECT_EQ(tree.entries.at("/etc/microshift/config.d/10-edgegpu.yaml").mode, 0644U);
}

TEST_F(ConfigDropIn, NeedsMicroshiftAndItsOwnFile) {
    EXPECT_EQ(error_of([&] { add_microshift_config(ctx, config("{}"), false, tree); }),
              "b.toml:7:1: the image has no MicroShift|add the package microshift, or remove "
              "[microshift.config]");
    microshift();
    file(std::string(config_drop_in), "");
    EXPECT_EQ(error_of([&] { add_microshift_config(ctx, config("{}"), false, tree); }),
              "b.toml:7:1: /etc/microshift/config.d/10-edgegpu.yaml of the image comes from "
              "elsewhere|[microshift.config] is written to this file: give the other one another "
              "name");
}

TEST_F(ConfigDropIn, OfALayerIsBesideThatOfItsParent) {
    microshift();
    file(std::string(config_drop_in), "dns: {}\n");
    add_microshift_config(ctx, config(R"({"etcd":{"memoryLimitMB":128}})"), true, tree);
    EXPECT_EQ(text(std::string(config_drop_in)), "dns: {}\n");
    EXPECT_THAT(text("/etc/microshift/config.d/11-edgegpu.yaml"),
                testing::HasSubstr("memoryLimitMB: 128"));
    add_microshift_config(ctx, config("{}"), true, tree);
    EXPECT_NE(find_entry(tree, "/etc/microshift/config.d/12-edgegpu.yaml"), nullptr);
}

TEST_F(ConfigDropIn, ThePodsNetworksAreTrusted) {
    MicroshiftRequest request;
    EXPECT_THAT(trusted_sources_of(request, tree), ElementsAre()) << "no MicroShift";
    microshift();
    EXPECT_THAT(trusted_sources_of(request, tree),
                ElementsAre("169.254.169.1", "10.42.0.0/16", "fd01::/48"));
    file("/etc/microshift/config.d/10-edgegpu.yaml",
         "network: {clusterNetwork: [\"10.1.0.0/16\", \"fd07::/48\"]}\n");
    file("/etc/microshift/config.yaml.default", "network: {clusterNetwork: [\"10.9.0.0/16\"]}\n");
    link("/etc/microshift/config.d/99.yaml", "../elsewhere");
    EXPECT_THAT(trusted_sources_of(request, tree),
                ElementsAre("169.254.169.1", "10.1.0.0/16", "fd07::/48"));
    file("/etc/microshift/config.d/20.yaml", "network: {clusterNetwork: [5, \"--new-zone=x\"]}\n");
    EXPECT_THAT(trusted_sources_of(request, tree),
                ElementsAre("169.254.169.1", "10.42.0.0/16", "fd01::/48"))
        << "no options of firewall-offline-cmd";
    file("/etc/microshift/config.d/30.yaml", "network: 5\n");
    EXPECT_EQ(trusted_sources_of(request, tree).size(), 3U);
    request.firewall = false;
    EXPECT_THAT(trusted_sources_of(request, tree), ElementsAre());
}

}  // namespace
}  // namespace edgegpu::test
