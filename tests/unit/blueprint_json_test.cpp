#include "commands/blueprint_json.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "blueprint_changes.hpp"
#include "blueprint_testing.hpp"

namespace edgegpu::test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* json_canary = "canary-4711";

/// Puts the canary where a secret may be, whatever field that is.
class Poison {
public:
    template <Shown shown>
    void put(std::string& text) {
        if constexpr (shown == Shown::secret || shown == Shown::text || shown == Shown::never) {
            text = json_canary;
        } else if constexpr (shown == Shown::url) {
            text = fmt::format("https://user:{}@host/path?token={}", json_canary, json_canary);
        }
    }
    template <Shown shown, typename Value>
    void put(std::optional<Value>& value) {
        put<shown>(*value);
    }
    template <Shown shown, typename Value>
    void put(std::vector<Value>& values) {
        for (Value& value : values) {
            put<shown>(value);
        }
    }
    template <Shown shown, typename Value>
    void put(std::map<std::string, Value>& values) {
        for (auto& [key, value] : values) {
            put<shown>(value);
        }
    }
    template <Shown shown, Described Struct>
    void put(Struct& value) {
        each_field(value, [&]<typename Row>(const Row& row, auto& owner) {
            put<Row::shown>(owner.*row.member);
        });
    }
    template <Shown shown, typename Other>
    void put(Other& /*value*/) {}
};

/// That an object has the very properties that the schema tells of, all the way down.
void expect_described(const json& schema, const json& root, const ordered_json& value,
                      const std::string& path) {
    if (schema.contains("$ref")) {
        const std::string name = schema["$ref"].get<std::string>().substr(1);
        expect_described(root.at(json::json_pointer(name)), root, value, path);
    } else if (schema.contains("anyOf")) {
        expect_described(schema["anyOf"][value.is_null() ? 1 : 0], root, value, path);
    } else if (value.is_array()) {
        ASSERT_TRUE(schema.contains("items")) << path;
        for (const ordered_json& element : value) {
            expect_described(schema["items"], root, element, path + "[]");
        }
    } else if (value.is_object() && schema.contains("properties")) {
        EXPECT_EQ(schema["additionalProperties"], false) << path;
        EXPECT_EQ(schema["required"].size(), schema["properties"].size()) << path;
        EXPECT_EQ(schema["properties"].size(), value.size()) << path;
        for (const auto& [key, element] : value.items()) {
            ASSERT_TRUE(schema["properties"].contains(key)) << path << '.' << key;
            expect_described(schema["properties"][key], root, element, path + '.' + key);
        }
    } else if (value.is_object()) {
        ASSERT_TRUE(schema["additionalProperties"].is_object()) << path;
        for (const auto& [key, element] : value.items()) {
            expect_described(schema["additionalProperties"], root, element, path + ".*");
        }
    } else {
        ASSERT_TRUE(schema.contains("type") || schema.contains("enum")) << path;
    }
}

class BlueprintJson : public BlueprintTest {
protected:
    BlueprintJson() { Filler(directory_).fill(filled_); }
    Blueprint filled_;
};

TEST_F(BlueprintJson, HasNoSecrets) {
    Poison().put<Shown::plain>(filled_);
    ASSERT_EQ(filled_.users[0].password, json_canary);
    ASSERT_THAT(filled_.repositories[0].baseurls[0], HasSubstr(json_canary));
    const std::string text = blueprint_json(filled_).dump();
    EXPECT_THAT(text, Not(HasSubstr(json_canary)));
    EXPECT_THAT(text, HasSubstr(R"x("password":"(hidden)")x"));
    EXPECT_THAT(text, HasSubstr("https://host/path?"));
}

TEST_F(BlueprintJson, ShowsWhatWasUnderstood) {
    const ordered_json shown = blueprint_json(parse(R"(name = "a"
distro = "rhel-9.4"
packages = [{ name = "podman", version = "4.*" }]
[[repositories]]
id = "a"
baseurl = "https://joe:secret@example.com/$releasever/$basearch"
password = "secret"
username = "joe"
gpgcheck = false
repo_gpgcheck = false
[nvidia]
driver = "535"
kernel = "5.14.0-427*"
[[customizations.files]]
path = "/etc/motd"
mode = "0640"
data = "hello"
)"));
    EXPECT_EQ(shown["packages"], ordered_json({"podman-4.*"}));
    EXPECT_EQ(shown["architecture"], "x86_64");
    EXPECT_EQ(shown["repositories"][0]["baseurl"][0], "https://example.com/9/x86_64");
    EXPECT_EQ(shown["repositories"][0]["transfer"]["password"], "(hidden)");
    EXPECT_EQ(shown["repositories"][0]["transfer"]["proxy_password"], "");
    EXPECT_EQ(shown["repositories"][0]["priority"], 99);
    EXPECT_EQ(shown["nvidia"]["modules"], "auto");
    EXPECT_EQ(shown["nvidia"]["kernel"],
              ordered_json({{"policy", "matching"}, {"glob", "5.14.0-427*"}}));
    EXPECT_EQ(shown["nvidia"]["secure_boot"], nullptr);
    EXPECT_EQ(shown["files"][0]["mode"], "0640");
    EXPECT_EQ(shown["files"][0]["data"], "(5 bytes)");
    EXPECT_EQ(shown["firewall"], nullptr);
}

TEST_F(BlueprintJson, HasExactlyThePropertiesOfItsSchema) {
    const json schema = json::parse(
        read_file(std::string(EDGEGPU_SOURCE_DIR) + "/docs/schemas/check.json", 1U << 20U));
    const json& blueprint = schema.at("/definitions/blueprint"_json_pointer);
    expect_described(blueprint, schema, blueprint_json(filled_), "blueprint");
}

}  // namespace
}  // namespace edgegpu::test
