#include "yaml/yaml_writer.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu::test {
namespace {

TEST(YamlWriter, Text) {
    EXPECT_EQ(write_yaml(yaml_map({{"resources", yaml_list({yaml_string("a"), yaml_string("b")})},
                                   {"count", yaml_plain("3")},
                                   {"inner", yaml_map({{"name", yaml_string("x y")}})},
                                   {"none", yaml_list()}})),
              "resources:\n- \"a\"\n- \"b\"\ncount: 3\ninner:\n  name: \"x y\"\nnone: []\n");
}

TEST(YamlWriter, HostileStringsComeBackAsTheyWere) {
    const std::string long_words = [] {
        std::string text;
        for (int i = 0; i < 500; ++i) {
            text += "word \t";
        }
        return text;
    }();
    for (const std::string& text :
         {std::string(),
          std::string("yes"),
          std::string("1.20"),
          std::string("null"),
          std::string("a\nb: c\n"),
          std::string("\n---\nkind: Secret\n"),
          std::string("it's \"x\""),
          std::string("*alias"),
          std::string("&a b"),
          std::string("!!int 3"),
          std::string("# no"),
          std::string("- x"),
          std::string("  \n  "),
          std::string("tab\there\r\n"),
          std::string("{a: b}"),
          std::string("\x01\x7f"),
          std::string("z\0ro", 4),
          std::string("\xc3\xa4 \xe2\x80\xa8 \xf0\x9f\x98\x80 \xef\xbb\xbf"),
          std::string("%YAML"),
          std::string("\\n \\x41"),
          std::string("..."),
          std::string("? k"),
          long_words}) {
        const std::vector<YamlNode> back =
            read_yaml("x", write_yaml(yaml_map({{"k", yaml_string(text)}})));
        ASSERT_EQ(back.size(), 1U) << text;
        ASSERT_EQ(back[0].keys.size(), 1U) << text;
        EXPECT_EQ(json_of(back[0]), (nlohmann::json{{"k", text}}));
    }
}

TEST(YamlWriter, RefusesWhatIsNotUtf8) {
    EXPECT_THROW((void)write_yaml(yaml_string("\xff\xfe")), Error);
}

using nlohmann::json;

std::string written(const json& value) {
    return write_yaml(yaml_of(value));
}

json read_back(const std::string& text) {
    const std::vector<YamlNode> documents = read_yaml("x.yaml", text);
    return documents.size() == 1 ? json_of(documents.front()) : json("not one document");
}

TEST(YamlOfJson, QuotesEveryString) {
    EXPECT_EQ(written(json::parse(R"({"dns": {"baseDomain": "no"}, "network": {"clusterNetwork":
        ["10.42.0.0/16", "1e3"], "empty": [], "none": {}}, "n": {"no": 1, "x": true, "y": -5,
        "1.5": 2.5, "memory.available": "5%", "": null}})")),
              R"(dns:
  baseDomain: "no"
"n":
  "": null
  "1.5": 2.5
  memory.available: "5%"
  "no": 1
  x: true
  "y": -5
network:
  clusterNetwork:
  - "10.42.0.0/16"
  - "1e3"
  empty: []
  none: {}
)") << "nlohmann's objects are sorted by key";
}

TEST(YamlOfJson, GivesBackWhatItGets) {
    const json values = {
        {"strings",
         {"",
          " ",
          "a b",
          "0777",
          "1:20",
          "0x1f",
          "1_000",
          "~",
          "null",
          "<<",
          "=",
          "- a",
          "# b",
          "a: b",
          "&x",
          "*x",
          "!x",
          "%x",
          "@x",
          "`x",
          "'",
          "\"",
          "\\",
          "a\nb\n",
          "\ttab",
          "a\r\n",
          std::string("nul\0l", 5),
          "\x7f",
          "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
          "\xe2\x80\xa8",
          std::string("\xef\xbb\xbf") + "bom",
          std::string(300, 'x') + " " + std::string(300, 'y')}},
        {"numbers",
         {0, -1, 1.5, 1e300, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}},
        {"keys",
         {{"a\nb", 1},
          {"no", 2},
          {"1", 3},
          {": ", 4},
          {"? ", 5},
          {"- ", 6},
          {"{", 7},
          {"<<", 8},
          {"true", 9},
          {"1e3", 10},
          {std::string(2000, 'k'), 11},
          {"\xc3\xa4", 12},
          {"~", 13}}},
        {"nested", {{{"a", {{{"b", {json::array()}}}}}}}},
    };
    const std::string text = written(values);
    EXPECT_EQ(read_back(text), values) << text;
    EXPECT_EQ(written(json::parse(values.dump())), text);
    EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(YamlOfJson, RefusesWhatIsNoNumber) {
    EXPECT_THROW(static_cast<void>(written(json{{"a", std::numeric_limits<double>::quiet_NaN()}})),
                 Error);
    EXPECT_THROW(static_cast<void>(written(json{{"a", std::numeric_limits<double>::infinity()}})),
                 Error);
}

TEST(YamlOfJson, DeepValues) {
    json deep = "x";
    for (int i = 0; i < 60; ++i) {
        deep = i % 2 == 0 ? json::array({std::move(deep)}) : json{{"key", std::move(deep)}};
    }
    EXPECT_EQ(read_back(written(deep)), deep);
}

}  // namespace
}  // namespace edgegpu::test
