#include "schema/typed_value.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {

namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

TypedValue read_deployment(const std::string& text) {
    const SchemaTable table = shipped_schema_table();
    Definitions definitions(table, KubernetesVersion{33});
    return read_by_schema(definitions, "apps.v1.Deployment", json::parse(text));
}

std::vector<std::string> repeated_in(const char* keys, const char* list) {
    return repeated_keys({{"x-list-keys", json::parse(keys)}}, json::parse(list));
}

}  // namespace

TEST(TypedValue, NullIsNoneWhereTheFieldIsKnown) {
    const TypedValue typed = read_deployment(
        R"({"metadata": {"labels": {"a": null}, "creationTimestamp": null, "unknown": null},
            "spec": null, "status": null})");
    EXPECT_EQ(typed.value.dump(), R"({"metadata":{"labels":{},"unknown":null}})");
    EXPECT_THAT(typed.failures, IsEmpty());
}

TEST(TypedValue, NullInAListIsAZeroValue) {
    const TypedValue typed = read_deployment(
        R"({"spec": {"template": {"spec": {"tolerations": [null], "containers": [
            {"name": "a", "args": [null, "b"], "env": [null]}]}}}})");
    const json& pod = typed.value["spec"]["template"]["spec"];
    EXPECT_EQ(pod["tolerations"].dump(), "[{}]");
    EXPECT_EQ(pod["containers"][0]["args"].dump(), R"(["","b"])");
    EXPECT_EQ(pod["containers"][0]["env"].dump(), "[null]") << "it has keys";
}

TEST(TypedValue, ListsWithRepeatedKeysFail) {
    const TypedValue typed = read_deployment(
        R"({"spec": {"template": {"spec": {"tolerations": [{"key": "a"}, {"key": "a"}],
            "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
            "containers": [{"name": "a", "env": [{"name": "A"}, {"name": "A"}]}]}}}})");
    ASSERT_EQ(typed.failures.size(), 1U);
    EXPECT_THAT(typed.failures[0].place,
                ElementsAre("spec", "template", "spec", "containers", "0", "env"));
}

TEST(TypedValue, Keys) {
    EXPECT_THAT(
        repeated_in(R"({"name": null})", R"([{"name": "a"}, {"name": "A"}, {}, {}, 1, []])"),
        IsEmpty());
    EXPECT_THAT(
        repeated_in(R"({"name": null})", R"([{"name": "a"}, {"name": "a"}, {"name": "a"}])"),
        ElementsAre("name \"a\""));
    const char* const ports = R"({"port": null, "protocol": "TCP"})";
    EXPECT_THAT(repeated_in(ports, R"([{"port": 1}, {"port": 1, "protocol": "UDP"},
                                       {"port": 2}, {"protocol": "TCP"}, {"protocol": "TCP"}])"),
                IsEmpty());
    EXPECT_THAT(repeated_in(ports, R"([{"port": 1, "protocol": null}, {"port": 1}])"), IsEmpty());
    EXPECT_THAT(repeated_in(ports, R"([{"port": 1, "protocol": "TCP"}, {"port": 1}])"),
                ElementsAre("port 1, protocol \"TCP\""));
    EXPECT_THAT(repeated_in("{}", R"(["a", "b", "a", 1, 1, null, null])"), ElementsAre("\"a\""));
}

}  // namespace edgegpu
