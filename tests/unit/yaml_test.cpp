#include "yaml/yaml.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string yaml_failure(const std::string& text) {
    try {
        (void)read_yaml("a.yaml", text);
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        return failure.message();
    }
    return "none";
}

TEST(Yaml, DocumentsAsValues) {
    const std::vector<YamlNode> documents =
        read_yaml("a.yaml", "a: {b: [1, \"2\"], c: ~}\n---\n---\n# nothing\n---\n- x\n");
    ASSERT_EQ(documents.size(), 2U);
    const YamlNode* list = documents[0].find({"a", "b"});
    ASSERT_NE(list, nullptr);
    ASSERT_EQ(list->items.size(), 2U);
    EXPECT_EQ(list->items[0].text, "1");
    EXPECT_FALSE(list->items[0].quoted);
    EXPECT_TRUE(list->items[1].quoted);
    EXPECT_EQ(list->items[1].line, 1U);
    EXPECT_EQ(list->items[1].column, 12U);
    EXPECT_EQ(documents[0].text_at({"a", "c"}), "");
    EXPECT_EQ(documents[0].text_at({"a", "b"}), "") << "it is a list";
    EXPECT_EQ(documents[0].find({"a", "no", "b"}), nullptr);
    EXPECT_EQ(documents[1].items.at(0).text, "x");
    EXPECT_TRUE(read_yaml("a.yaml", "").empty());
}

TEST(Yaml, AliasesAreCopies) {
    const std::vector<YamlNode> documents = read_yaml("a.yaml", "a: &x {k: v}\nb: *x\n");
    EXPECT_EQ(documents.at(0).text_at({"b", "k"}), "v");
}

TEST(Yaml, WhatIsNotYamlHasAPlace) {
    EXPECT_EQ(yaml_failure("a:\n  - [b\n"),
              "a.yaml:3:1: not YAML: did not find expected ',' or ']'");
    EXPECT_EQ(yaml_failure("a: *nothing\n"), "a.yaml:1:4: not YAML: found undefined alias");
    EXPECT_EQ(yaml_failure("? [a]\n: b\n"), "a.yaml:1:3: a YAML key that is not a scalar");
    EXPECT_NE(yaml_failure(std::string("a: \0b\n", 6)), "none");
    EXPECT_NE(yaml_failure("a: \xff\xfe\n"), "none");
}

TEST(Yaml, WhatGrowsWithoutEndIsRefused) {
    std::string laughs = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n";
    for (int i = 1; i < 10; ++i) {
        laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                              i - 1);
    }
    EXPECT_NE(yaml_failure(laughs).find("more than a million YAML nodes"), std::string::npos);
    std::string large = "a: &a \"" + std::string(1U << 20U, 'x') + "\"\n";
    for (int i = 0; i < 100; ++i) {
        large += fmt::format("b{}: *a\n", i);
    }
    EXPECT_NE(yaml_failure(large).find("more than 64 MiB"), std::string::npos);
    EXPECT_EQ(yaml_failure("a: &a [*a]\n"), "a.yaml:1:8: not YAML: found undefined alias");
    EXPECT_NE(yaml_failure(std::string(200, '[') + std::string(200, ']')).find("levels"),
              std::string::npos);
    EXPECT_NE(yaml_failure(std::string(200'000, '[')), "none");
}

}  // namespace
}  // namespace edgegpu
