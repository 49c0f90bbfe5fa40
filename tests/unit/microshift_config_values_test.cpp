#include "microshift/config_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::string> found(const char* config) {
    std::vector<std::string> messages;
    for (const SchemaProblem& problem : check_config_values(json::parse(config))) {
        messages.push_back(problem.message);
    }
    return messages;
}

TEST(ConfigValuesTest, TakesWhatMicroshiftTakes) {
    EXPECT_THAT(found("{}"), ElementsAre());
    EXPECT_THAT(found(R"({
        "network": {"clusterNetwork": ["10.1.2.3/16", "fd03::/48"],
            "serviceNetwork": ["10.2.0.0/28", "fd04::/112"], "serviceNodePortRange": "80-65535"},
        "node": {"nodeIP": "10.0.0.1", "nodeIPv6": "2001:db8::1", "hostnameOverride": "a.b"},
        "apiServer": {"advertiseAddress": "10.44.0.0", "subjectAltNames": ["a.b", "10.0.0.2"],
            "auditLog": {"profile": "None", "maxFiles": 0}, "featureGates": {
            "featureSet": "CustomNoUpgrade", "customNoUpgrade": {"enabled": ["A"], "disabled": ["B"]}}},
        "etcd": {"memoryLimitMB": 128}, "debugging": {"logLevel": "traceall"},
        "ingress": {"status": "Removed", "ports": {"http": 1, "https": 65535},
            "listenAddress": ["enp1s0", "10.0.0.1"],
            "routeAdmissionPolicy": {"namespaceOwnership": "Strict"}},
        "dns": {"hosts": {"status": "Enabled", "file": "/etc/hosts"}, "resources":
            {"requests": {"cpu": "60m"}}},
        "telemetry": {"status": "Disabled"}})"),
                ElementsAre());
    EXPECT_THAT(found(R"({"network": {"clusterNetwork": [], "serviceNodePortRange": ""},
        "node": {"nodeIP": ""}, "etcd": {"memoryLimitMB": 0}, "debugging": {"logLevel": ""}})"),
                ElementsAre())
        << "empty is absent";
    EXPECT_THAT(found(R"({"network": 5, "node": [], "apiServer": {"subjectAltNames": {"a": 1},
        "auditLog": "x"}, "ingress": {"ports": {"http": "80"}}, "dns": {"resources": null}})"),
                ElementsAre())
        << "types are the schema's";
}

TEST(ConfigValuesTest, Networks) {
    EXPECT_THAT(found(R"({"network": {"clusterNetwork": ["10.42.0.0", "fd01::/129"],
                          "serviceNetwork": ["10.43.0.0/16"]}})"),
                ElementsAre("network.clusterNetwork[0]: \"10.42.0.0\" is not a network such as "
                            "10.42.0.0/16 or fd01::/48",
                            "network.clusterNetwork[1]: \"fd01::/129\" is not a network such as "
                            "10.42.0.0/16 or fd01::/48"));
    EXPECT_THAT(found(R"({"network": {"clusterNetwork": ["10.42.0.0/16", "10.1.0.0/16"],
                          "serviceNetwork": ["10.43.0.0/29"]}})"),
                ElementsAre("network.clusterNetwork: two networks must be one of IPv4 and one of "
                            "IPv6",
                            "network.serviceNetwork[0]: too small for services: 16 addresses at "
                            "least",
                            "network.serviceNetwork: 1 networks, where clusterNetwork has 2"));
    EXPECT_THAT(found(R"({"network": {"clusterNetwork": ["10.42.0.0/16"],
                          "serviceNetwork": ["fd02::/112"]}})"),
                ElementsAre("network.serviceNetwork[0]: clusterNetwork[0] is of the other family "
                            "of addresses"));
    for (const char* range :
         {"30000", "30000-", "a-b", "32767-30000", "1-65536", "1-2-3", "-1-5", "30000 - 32767"}) {
        EXPECT_EQ(
            found(
                (R"({"network": {"serviceNodePortRange": ")" + std::string(range) + "\"}}").c_str())
                .size(),
            1U)
            << range;
    }
}

TEST(ConfigValuesTest, NetworksThatOverlap) {
    const auto overlaps = [](const std::string& network) {
        return found(("{\"network\": {" + network + "}}").c_str());
    };
    EXPECT_THAT(overlaps(R"("clusterNetwork": ["10.0.0.0/8"], "serviceNetwork": ["10.43.0.0/16"])"),
                ElementsAre("network.serviceNetwork[0]: it overlaps network.clusterNetwork[0]"));
    EXPECT_THAT(overlaps(R"("clusterNetwork": ["10.43.1.0/24"])"),
                ElementsAre("network.clusterNetwork[0]: it overlaps 10.43.0.0/16, which "
                            "network.serviceNetwork is unless it is set"));
    EXPECT_THAT(overlaps(R"("serviceNetwork": ["10.42.0.0/16"])"),
                ElementsAre("network.serviceNetwork[0]: it overlaps 10.42.0.0/16, which "
                            "network.clusterNetwork is unless it is set"));
    EXPECT_THAT(overlaps(R"("clusterNetwork": ["100.64.0.0/10"])"),
                ElementsAre("network.clusterNetwork[0]: it overlaps 100.64.0.0/16, which "
                            "OVN-Kubernetes uses itself"));
    EXPECT_THAT(overlaps(R"("clusterNetwork": ["100.64.0.0/10"], "cniPlugin": "none")"),
                ElementsAre());
    EXPECT_THAT(overlaps(R"("clusterNetwork": ["fd01::/48"], "serviceNetwork": ["fd01:1::/112"])"),
                ElementsAre());
}

TEST(ConfigValuesTest, NamesOfNodesAndDomains) {
    EXPECT_THAT(found(R"({"node": {"hostnameOverride": "GPU-1.Example.com"},
                          "dns": {"baseDomain": "gpu.example.com"}})"),
                ElementsAre());
    EXPECT_THAT(found(R"({"node": {"hostnameOverride": "gpu_1"},
                          "dns": {"baseDomain": "https://example.com"}})"),
                ElementsAre("node.hostnameOverride: \"gpu_1\" is no name of a node: up to 63 "
                            "letters, digits, hyphens and dots",
                            "dns.baseDomain: \"https://example.com\" is not a domain such as "
                            "gpu-node.example.com: routes below it would be refused"));
    const std::string longest(63, 'a');
    EXPECT_THAT(found(("{\"node\": {\"hostnameOverride\": \"" + longest + "\"}}").c_str()),
                ElementsAre());
    EXPECT_EQ(found(("{\"node\": {\"hostnameOverride\": \"a" + longest + "\"}}").c_str()).size(),
              1U);
    EXPECT_EQ(found(R"({"dns": {"baseDomain": "Example.com"}})").size(), 1U);
}

TEST(ConfigValuesTest, AddressesAndNames) {
    EXPECT_THAT(found(R"({"node": {"nodeIP": "10.0.0", "nodeIPv6": "10.0.0.1",
                          "hostnameOverride": "10.0.0.1"},
                          "apiServer": {"advertiseAddress": "host"}})"),
                ElementsAre("node.nodeIP: \"10.0.0\" is not an IP address",
                            "apiServer.advertiseAddress: \"host\" is not an IP address",
                            "node.nodeIPv6: \"10.0.0.1\" is not an IPv6 address",
                            "node.hostnameOverride: \"10.0.0.1\" is an IP address, not a name"));
    EXPECT_THAT(
        found(R"({"node": {"nodeIPv6": "fd00::1"}, "network": {"clusterNetwork": ["10.1.0.0/16"],
                  "serviceNetwork": ["10.2.0.0/16"]}, "apiServer": {"advertiseAddress": "fd00::2",
                  "subjectAltNames": ["localhost", "kubernetes.default", "fd00::2", "ok"]}})"),
        ElementsAre("node.nodeIPv6: for clusters with two families of addresses only; "
                    "network.clusterNetwork has one",
                    "apiServer.advertiseAddress: network.serviceNetwork[0] is of the other family "
                    "of addresses",
                    "apiServer.subjectAltNames[0]: \"localhost\" belongs to MicroShift's own "
                    "certificates",
                    "apiServer.subjectAltNames[1]: \"kubernetes.default\" belongs to MicroShift's "
                    "own certificates",
                    "apiServer.subjectAltNames[2]: it is apiServer.advertiseAddress, which has a "
                    "certificate already"));
}

TEST(ConfigValuesTest, LimitsAndChoices) {
    EXPECT_THAT(found(R"({"etcd": {"memoryLimitMB": 127}, "debugging": {"logLevel": "Verbose"},
                          "telemetry": {"status": "enabled"}})"),
                ElementsAre("etcd.memoryLimitMB: 127 is less than 128, which etcd needs; 0 is no "
                            "limit",
                            "debugging.logLevel: \"Verbose\" is none of Normal, Debug, Trace, "
                            "TraceAll",
                            "telemetry.status: \"enabled\" is none of Enabled, Disabled; did you "
                            "mean \"Enabled\"?"));
    EXPECT_THAT(found(R"({"etcd": {"memoryLimitMB": -1}})"),
                ElementsAre("etcd.memoryLimitMB: -1 is less than 128, which etcd needs; 0 is no "
                            "limit"));
    EXPECT_THAT(found(R"({"ingress": {"status": "Manged", "ports": {"http": 0, "https": 65536},
                          "listenAddress": ["127.0.0.1", "fe80::1"]}, "apiServer":
                          {"auditLog": {"maxFiles": -9223372036854775808, "profile": "All"}}})"),
                ElementsAre("apiServer.auditLog.profile: \"All\" is none of Default, "
                            "WriteRequestBodies, AllRequestBodies, None",
                            "apiServer.auditLog.maxFiles: -9223372036854775808 is less than 0",
                            "ingress.status: \"Manged\" is none of Managed, Removed; did you mean "
                            "\"Managed\"?",
                            "ingress.ports.http: 0 is not between 1 and 65535",
                            "ingress.ports.https: 65536 is not between 1 and 65535",
                            "ingress.listenAddress[0]: the router does not listen on "
                            "\"127.0.0.1\": it is a loopback or link-local address",
                            "ingress.listenAddress[1]: the router does not listen on "
                            "\"fe80::1\": it is a loopback or link-local address"));
}

TEST(ConfigValuesTest, FeatureGatesAndDns) {
    EXPECT_THAT(found(R"({"apiServer": {"featureGates": {"customNoUpgrade": {"enabled": ["A"],
                          "disabled": ["A"]}}}})"),
                ElementsAre("apiServer.featureGates.customNoUpgrade.disabled[0]: \"A\" is "
                            "enabled, too",
                            "apiServer.featureGates: feature gates need featureSet = "
                            "\"CustomNoUpgrade\""));
    EXPECT_THAT(found(R"({"apiServer": {"featureGates": {"featureSet": "TechPreviewNoUpgrade"}}})"),
                ElementsAre("apiServer.featureGates.featureSet: \"TechPreviewNoUpgrade\" is none "
                            "of CustomNoUpgrade"));
    EXPECT_THAT(found(R"({"dns": {"configFile": "Corefile", "hosts": {"status": "Enabled"},
                          "resources": {"limits": {"cpu": "x", "gpu": "1"}}}})"),
                ElementsAre("dns.configFile: it excludes dns.hosts, which is enabled",
                            "dns.configFile: \"Corefile\" is not an absolute path",
                            "dns.resources.limits.cpu: \"x\" is not a quantity such as 50m or 70Mi",
                            "dns.resources.limits.gpu: there are cpu and memory alone"));
}

}  // namespace
}  // namespace edgegpu
