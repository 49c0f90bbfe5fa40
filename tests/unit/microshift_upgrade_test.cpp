#include "microshift/upgrade.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::string failure(const char* parent, const char* image) {
    try {
        check_microshift_upgrade({"b.toml", 3, 1}, microshift_version(parent).value(),
                                 microshift_version(image).value());
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.message() + "|" + error.hint();
    }
    return "";
}

TEST(MicroshiftUpgradeTest, AtMostTwoMinorVersionsUp) {
    for (const auto& [parent, image] :
         {std::pair("4.18.5", "4.18.2"), std::pair("4.18.5", "4.18.9"), std::pair("4.16", "4.18"),
          std::pair("4.17", "4.18"), std::pair("4.22", "5.0"), std::pair("4.21", "5.0"),
          std::pair("4.22", "5.1")}) {
        EXPECT_EQ(failure(parent, image), "") << parent << " → " << image;
    }
    EXPECT_EQ(failure("4.14.3", "4.18.1"),
              "b.toml:3:1: MicroShift 4.18 is 4 minor versions newer than the 4.14 of the parent "
              "commit, and refuses to start with data that is more than 2 older|build a commit "
              "with microshift 4.16.* first, and let all devices start it once before they get "
              "this one");
    EXPECT_NE(failure("4.21", "5.1").find("microshift 5.0.* first"), std::string::npos);
    EXPECT_EQ(failure("4.18.5", "4.17.9"),
              "b.toml:3:1: MicroShift 4.17 is older than the 4.18 of the parent commit, and "
              "refuses to start with newer data|request microshift 4.18.* or newer; devices go "
              "back to an older one with `rpm-ostree rollback`, or are installed anew from another "
              "ref");
    EXPECT_NE(failure("5.0", "4.22"), "");
}

std::vector<std::string> changes(const char* parent, const char* image) {
    std::vector<std::string> found;
    for (const ImmutableChange& change :
         immutable_changes(json::parse(parent), json::parse(image))) {
        found.push_back(change.pointer + ": " + change.before + " → " + change.now);
    }
    return found;
}

TEST(MicroshiftUpgradeTest, FindsWhatCannotChange) {
    EXPECT_THAT(changes("{}", "{}"), ElementsAre());
    EXPECT_THAT(changes(R"({"dns": {"baseDomain": "a"}})", R"({"dns": {"baseDomain": "b"}})"),
                ElementsAre(R"(/dns/baseDomain: "a" → "b")"));
    EXPECT_THAT(changes("{}", R"({"dns": {"baseDomain": "b"}})"),
                ElementsAre(R"(/dns/baseDomain: "example.com" (MicroShift's default) → "b")"));
    EXPECT_THAT(changes(R"({"dns": {"baseDomain": "example.com"}})", R"({"dns": null})"),
                ElementsAre());
    EXPECT_THAT(changes(R"({"network": {"clusterNetwork": ["10.1.0.0/16"]}})", "{}"),
                ElementsAre("/network/clusterNetwork: [\"10.1.0.0/16\"] → [\"10.42.0.0/16\"] "
                            "(MicroShift's default)"));
    EXPECT_THAT(changes(R"({"network": {"serviceNetwork": ["10.1.0.0/16"]}})",
                        R"({"network": {"serviceNetwork": ["10.1.0.0/16", "fd02::/112"]}})"),
                ElementsAre("/network/serviceNetwork: [\"10.1.0.0/16\"] → "
                            "[\"10.1.0.0/16\",\"fd02::/112\"]"));
    EXPECT_THAT(
        changes(R"({"node": {"hostnameOverride": "a"}})", R"({"node": {"hostnameOverride": "b"}})"),
        ElementsAre("/node/hostnameOverride: \"a\" → \"b\""));
}

TEST(MicroshiftUpgradeTest, TakesTheSameInOtherWords) {
    for (const auto& [parent, image] :
         {std::pair(R"({"network": {"clusterNetwork": []}})",
                    R"({"network": {"clusterNetwork": ["10.42.0.0/16"]}})"),
          std::pair("{}", R"({"network": {"clusterNetwork": ["fd01::/48"],
                                          "serviceNetwork": ["fd02::/112"]}})"),
          std::pair(R"({"network": {"clusterNetwork": ["10.1.2.3/16"]}})",
                    R"({"network": {"clusterNetwork": ["10.1.0.0/16"]}})"),
          std::pair(R"({"node": {"hostnameOverride": "Node"}})",
                    R"({"node": {"hostnameOverride": "node"}})"),
          std::pair("{}", R"({"node": {"hostnameOverride": "node"}})"),
          std::pair(R"({"node": {"hostnameOverride": "node"}})", "{}")}) {
        EXPECT_THAT(changes(parent, image), ElementsAre()) << parent << " → " << image;
    }
}

TEST(MicroshiftUpgradeTest, OddValuesOfTheParent) {
    EXPECT_THAT(changes(R"({"dns": 5, "network": [1], "node": "x"})",
                        R"({"network": {"clusterNetwork": "10.42.0.0/16"}})")
                    .size(),
                1U);
    EXPECT_THAT(changes(R"({"dns": {"baseDomain": {"a": 1}}})", "{}").size(), 1U);
    const std::string domain = R"({"dns": {"baseDomain": ")" + std::string(100'000, 'a') + "\"}}";
    EXPECT_LT(changes(domain.c_str(), "{}").front().size(), 1000U);
}

TEST(MicroshiftUpgradeTest, FeatureGates) {
    const json gates = json::parse(R"({"apiServer": {"featureGates": {
        "featureSet": "CustomNoUpgrade", "customNoUpgrade": {"enabled": ["A"]}}}})");
    const json exempt = json::parse(R"({"apiServer": {"featureGates": {
        "featureSet": "CustomNoUpgrade", "specialHandlingSupportExceptionRequired":
        {"enabled": ["A"]}}}})");
    EXPECT_TRUE(forbids_upgrades(gates, gates));
    EXPECT_FALSE(forbids_upgrades(gates, exempt));
    EXPECT_FALSE(forbids_upgrades(json::object(), gates));
    EXPECT_FALSE(forbids_upgrades(exempt, gates));
}

}  // namespace
}  // namespace edgegpu
