#include "microshift/config_schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::string> messages(const ConfigSchema& schema, const json& config) {
    std::vector<std::string> found;
    for (const SchemaProblem& problem : schema.check(config)) {
        found.push_back(problem.pointer + " " + problem.message);
    }
    return found;
}

std::vector<std::string> shipped(const char* version, const json& config) {
    return messages(ConfigSchema::shipped(microshift_version(version)).value(), config);
}

TEST(ConfigSchemaTest, TakesWhatMicroshiftTakes) {
    const json config = json::parse(R"({
        "dns": {"baseDomain": "example.org"},
        "network": {"clusterNetwork": ["10.1.0.0/16"], "serviceNodePortRange": "30000-32767"},
        "node": {"hostnameOverride": "", "nodeIP": "10.0.0.1"},
        "apiServer": {"subjectAltNames": ["a"], "auditLog": {"maxFiles": 3}},
        "ingress": {"status": "Managed", "ports": {"http": 80},
                    "tuningOptions": {"clientTimeout": "1m30s", "healthCheckInterval": "1.5h"}},
        "storage": {"driver": "", "optionalCsiComponents": ["none"]},
        "kubelet": {"evictionHard": {"memory.available": "5%"}, "anything": [1, {"a": 2.5}]},
        "manifests": {"kustomizePaths": []}, "etcd": {"memoryLimitMB": 0},
        "debugging": {"logLevel": "Debug"}})");
    EXPECT_THAT(shipped("4.18", config), ElementsAre());
    EXPECT_THAT(shipped("5.1", config), ElementsAre());
    EXPECT_THAT(shipped("5.1", json::object()), ElementsAre());
}

TEST(ConfigSchemaTest, SaysWhichVersionsHaveAKey) {
    const json config = json::parse(R"({"dns": {"basedomain": "x", "hosts": {}, "resolver": 1},
        "telemetry": {}, "cluserNetwork": [], "baseDomain": "x"})");
    EXPECT_THAT(
        shipped("4.18", config),
        ElementsAre("/baseDomain baseDomain: unknown field; it belongs to dns",
                    "/cluserNetwork cluserNetwork: unknown field",
                    "/telemetry telemetry: unknown field; MicroShift 4.19 and later have it",
                    "/dns/basedomain dns.basedomain: unknown field; did you mean \"baseDomain\"?",
                    "/dns/hosts dns.hosts: unknown field; MicroShift 4.21 and later have it",
                    "/dns/resolver dns.resolver: unknown field"));
    EXPECT_THAT(shipped("4.22", json::parse(R"({"dns": {"resources": {}}})")),
                ElementsAre("/dns/resources dns.resources: unknown field; MicroShift 5.0 and later "
                            "have it"));
}

TEST(ConfigSchemaTest, ExplainsValues) {
    const json config = json::parse(R"({"apiServer": {"subjectAltNames": "a", "tls":
        {"minVersion": "VersionTLS21"}}, "dns": {"baseDomain": 5}, "etcd": {"memoryLimitMB": "512"},
        "ingress": {"accessLogging": {"destination": {"syslog": {"port": 0, "maxLength": 99999}}},
        "defaultHTTPVersion": 3000000000, "listenAddress": {"a": 1}, "tuningOptions":
        {"threadCount": 65, "serverTimeout": "5 minutes", "tunnelTimeout": 5}}})");
    EXPECT_THAT(
        shipped("5.0", config),
        ElementsAre(
            "/apiServer/subjectAltNames apiServer.subjectAltNames: \"a\" where a list is expected",
            "/apiServer/tls/minVersion apiServer.tls.minVersion: \"VersionTLS21\" is none of "
            "VersionTLS12, VersionTLS13; did you mean \"VersionTLS12\"?",
            "/dns/baseDomain dns.baseDomain: 5 is not a string; put it in quotes",
            "/etcd/memoryLimitMB etcd.memoryLimitMB: \"512\" is not an integer; write it without "
            "quotes",
            "/ingress/accessLogging/destination/syslog/maxLength "
            "ingress.accessLogging.destination.syslog.maxLength: 99999 is more than 4096",
            "/ingress/accessLogging/destination/syslog/port "
            "ingress.accessLogging.destination.syslog.port: 0 is less than 1",
            "/ingress/defaultHTTPVersion ingress.defaultHTTPVersion: 3000000000 does not fit into "
            "32 bits",
            "/ingress/listenAddress ingress.listenAddress: a map where a list is expected; begin "
            "each element with \"- \"",
            "/ingress/tuningOptions/serverTimeout ingress.tuningOptions.serverTimeout: \"5 "
            "minutes\" is not a duration such as 30s, 1m30s or 1h",
            "/ingress/tuningOptions/threadCount ingress.tuningOptions.threadCount: 65 is more "
            "than 64",
            "/ingress/tuningOptions/tunnelTimeout ingress.tuningOptions.tunnelTimeout: 5 is not a "
            "string; put it in quotes"));
}

TEST(ConfigSchemaTest, VersionsOfTheTable) {
    EXPECT_FALSE(ConfigSchema::shipped(microshift_version("4.13")));
    EXPECT_FALSE(ConfigSchema::shipped(microshift_version("5.99")));
    EXPECT_TRUE(ConfigSchema::shipped(microshift_version("4.14")));
    EXPECT_THAT(messages(ConfigSchema::shipped(std::nullopt).value(),
                         json::parse(R"({"clusterToCluster": {}})")),
                ElementsAre())
        << "without a version: the newest";
}

TEST(ConfigSchemaTest, HostileValues) {
    json deep = 1;
    for (int i = 0; i < 200; ++i) {
        deep = json::array({std::move(deep)});
    }
    EXPECT_EQ(shipped("4.18", {{"kubelet", {{"a", deep}}}}).size(), 1U);
    json many = json::object();
    for (int i = 0; i < 100000; ++i) {
        many["key" + std::to_string(i)] = i;
    }
    EXPECT_EQ(shipped("4.18", many).size(), 51U);
    EXPECT_THAT(shipped("4.18", {{"a\n\x1b[31m/~", 1}}),
                ElementsAre("/a\n\x1b[31m~1~0 [\"a\\n\\u001b[31m/~\"]: unknown field"));
}

/// The form of the published document, with what a newer MicroShift may have.
TEST(ConfigSchemaTest, ReadsTheSchemaOfAnImage) {
    const char* document = R"({"type": "object", "required": ["dns"], "properties": {
        "dns": {"type": "object", "description": "x", "required": ["baseDomain"], "properties": {
            "baseDomain": {"type": "string", "default": "example.com", "pattern": "^(a+)+$"},
            "new": {"type": "integer", "format": "int32"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a\t\n\"": {}}}},
        "kubelet": {"description": "x"}}})";
    const ConfigSchema schema =
        ConfigSchema::published(document, microshift_version("5.9").value());
    EXPECT_THAT(messages(schema, json::parse(R"({"dns": {"new": 5}, "kubelet": {"x": 1},
                    "list": [{"a\t\n\"": 1}]})")),
                ElementsAre());
    EXPECT_THAT(messages(schema, json::parse(R"({"dns": {"new": 5000000000, "nwe": 1},
                    "list": [{"b": 1}], "other": 1})")),
                ElementsAre("/other other: unknown field",
                            "/dns/nwe dns.nwe: unknown field; did you mean \"new\"?",
                            "/dns/new dns.new: 5000000000 does not fit into 32 bits",
                            "/list/0/b list[0].b: unknown field"));
}

TEST(ConfigSchemaTest, ChoicesOfAnImageArePlainValues) {
    const MicroshiftVersion version{5, 0};
    const auto with_choices = [&](const std::string& choices) {
        return messages(
            ConfigSchema::published(R"({"properties": {"a": {"enum": )" + choices + "}}}", version),
            json::parse(R"({"a": "x"})"));
    };
    EXPECT_THAT(with_choices(R"(["y", "z"])"),
                ElementsAre("/a a: \"x\" is none of y, z; did you mean \"y\"?"));
    EXPECT_THAT(with_choices(R"(["y", {"$ref": "x"}])"), ElementsAre());
    constexpr std::size_t deep = 1U << 20U;
    EXPECT_THAT(with_choices(std::string(deep, '[') + std::string(deep, ']')), ElementsAre());
}

TEST(ConfigSchemaTest, KeysOfAnImageDoNotName) {
    const MicroshiftVersion version{5, 0};
    const ConfigSchema dotted = ConfigSchema::published(
        R"({"properties": {
            "a.b": {"properties": {"dotted": {}}},
            "a": {"properties": {"b": {"properties": {"nested": {}}}}}}})",
        version);
    EXPECT_THAT(
        messages(dotted, json::parse(R"({"a.b": {"dotted": 1}, "a": {"b": {"nested": 1}}})")),
        ElementsAre());
    EXPECT_EQ(messages(dotted, json::parse(R"({"a.b": {"nested": 1}})")).size(), 1U);
    EXPECT_EQ(messages(dotted, json::parse(R"({"a": {"b": {"dotted": 1}}})")).size(), 1U);

    // A definition for each object, with the long key in none of their names.
    const std::string key(1U << 20U, 'k');
    std::string objects;
    for (int i = 0; i < 20'000; ++i) {
        objects += fmt::format(R"({}"{}": {{"properties": {{}}}})", i == 0 ? "" : ", ", i);
    }
    const ConfigSchema long_key = ConfigSchema::published(
        R"({"properties": {")" + key + R"(": {"properties": {)" + objects + "}}}}", version);
    EXPECT_EQ(messages(long_key, {{key, {{"19999", {{"x", 1}}}}}}).size(), 1U);
}

TEST(ConfigSchemaTest, RefusesWhatIsNoSchema) {
    const MicroshiftVersion version{5, 0};
    const std::string deep = [] {
        std::string text;
        for (int i = 0; i < 5000; ++i) {
            text += R"({"properties":{"a":)";
        }
        return text + "{}" + std::string(10000, '}');
    }();
    for (const std::string& document :
         {std::string(), std::string("[]"), std::string("{"), std::string("{}"), deep,
          std::string(R"({"properties": {"a": 5}})"), std::string(R"({"properties": {"a": null}})"),
          std::string((4U << 20U) + 1, ' ')}) {
        EXPECT_THROW(static_cast<void>(ConfigSchema::published(document, version)), Error)
            << document.substr(0, 40);
    }
    EXPECT_NO_THROW(static_cast<void>(
        ConfigSchema::published(R"({"properties": {}, "type": ["x"], "enum": 5})", version)));
}

}  // namespace
}  // namespace edgegpu
