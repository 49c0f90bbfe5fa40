#include "schema/server_value.hpp"

#include <string>

#include <gtest/gtest.h>

#include "schema/kubernetes_schemas.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

json config_map_object() {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}};
}

/// `levels` objects, or lists, in each other.
json nested_value(std::size_t levels, bool lists) {
    json value = 1;
    for (std::size_t i = 0; i < levels; ++i) {
        json outer = lists ? json::array() : json::object();
        if (lists) {
            outer.push_back(std::move(value));
        } else {
            outer["properties"] = std::move(value);
        }
        value = std::move(outer);
    }
    return value;
}

std::string only_problem(const json& object) {
    const SchemaCheck check = KubernetesSchemas(KubernetesVersion{33}).check(object);
    EXPECT_EQ(check.problems.size(), 1U);
    return check.problems.empty() ? "" : check.problems.front().message;
}

}  // namespace

TEST(ServerValue, ReadsLikeTheApiServer) {
    const ServerValue read = read_as_server(json::parse(
        R"({"a": null, "b": {"c": null, "d": [null, 1.0]}, "e": 1.5, "f": 9223372036854775807,
            "g": 9223372036854775808, "h": -9223372036854775808, "i": 1e300, "j": true})"));
    EXPECT_TRUE(read.problems.empty());
    EXPECT_EQ(
        read.value.dump(),
        R"({"a":null,"b":{"c":null,"d":[null,1]},"e":1.5,"f":9223372036854775807,"g":9.223372036854776e+18,)"
        R"("h":-9223372036854775808,"i":1e+300,"j":true})");
    EXPECT_TRUE(read.value["b"]["d"][1].is_number_integer());
}

TEST(ServerValue, DeepObjectsAreRefused) {
    for (const bool lists : {false, true}) {
        EXPECT_TRUE(read_as_server(nested_value(max_object_depth, lists)).problems.empty());
        for (const std::size_t levels : {max_object_depth + 1, std::size_t{100'000}}) {
            const ServerValue read = read_as_server(nested_value(levels, lists));
            ASSERT_EQ(read.problems.size(), 1U);
            EXPECT_TRUE(read.problems[0].message.ends_with(
                "objects and lists are nested more than 128 deep"));
        }
    }
}

/// A schema that contains itself, as deep as it may be.
TEST(ServerValue, DeepSchemasAreChecked) {
    json object = json::parse(R"({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "spec": {"group": "example.com", "scope": "Cluster",
        "names": {"kind": "A", "plural": "as"}, "versions": [{"name": "v1"}]}})");
    json schema = {{"type", 1}};
    // spec, versions, 0, schema and openAPIV3Schema are above the first level
    for (std::size_t i = 0; i < max_object_depth - 6; ++i) {
        schema = {{"items", std::move(schema)}};
    }
    object["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = std::move(schema);
    EXPECT_TRUE(only_problem(object).ends_with("items.type: 1 is not a string; put it in quotes"));
}

TEST(ServerValue, TextThatIsNotUtf8) {
    for (const char* bad : {"\xFF", "a\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
        json object = config_map_object();
        object["data"]["a"] = bad;
        EXPECT_EQ(only_problem(object), "data.a: is not UTF-8");
        object = config_map_object();
        object["data"][bad] = "a";
        EXPECT_TRUE(only_problem(object).starts_with("data: the key \"")) << bad;
    }
    json object = config_map_object();
    object["data"]["a"] = "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xED\x9F\xBF\xF4\x8F\xBF\xBF";
    EXPECT_TRUE(read_as_server(object).problems.empty());
}

TEST(ServerValue, LongKeysAndStrings) {
    json object = config_map_object();
    object["data"][std::string(max_key_size + 1, 'a')] = "a";
    EXPECT_EQ(only_problem(object), "data: a key has 4097 bytes; 4096 is the limit");
    object = config_map_object();
    object["data"]["a"] = std::string().assign(10'000'000, 'a');
    EXPECT_TRUE(KubernetesSchemas(KubernetesVersion{33}).check(object).problems.empty());
    object["immutable"] = std::string().assign(10'000'000, '\xC3');
    EXPECT_EQ(only_problem(object), "immutable: is not UTF-8");
    object["immutable"] = std::string().assign(10'000'000, 'a');
    EXPECT_LT(only_problem(object).size(), 200U);
}

TEST(ServerValue, ManyElements) {
    json object = {{"apiVersion", "v1"}, {"kind", "Pod"}};
    json& containers = object["spec"]["containers"] = json::array();
    for (int i = 0; i < 100'000; ++i) {
        containers.push_back({{"name", "c" + std::to_string(i)}, {"image", "c"}});
    }
    KubernetesSchemas schemas(KubernetesVersion{33});
    EXPECT_TRUE(schemas.check(object).problems.empty());
    containers.get_ref<json::array_t&>().resize(20'000);
    for (json& container : containers) {
        container = {{"nam", 1}};
    }
    EXPECT_EQ(schemas.check(object).problems.size(), 51U);
    object = config_map_object();
    for (int i = 0; i < 100'000; ++i) {
        object[std::to_string(i)] = "\xFF";
    }
    EXPECT_EQ(schemas.check(object).problems.size(), 51U);
}

TEST(ServerValue, BinaryValues) {
    json object = config_map_object();
    object["data"]["a"] = json::binary({1, 2});
    EXPECT_EQ(only_problem(object), "data.a: is not a JSON value");
}

}  // namespace edgegpu
