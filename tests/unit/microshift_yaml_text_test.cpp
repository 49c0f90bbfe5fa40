#include "microshift/yaml_text.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "bundles/yaml.hpp"
#include "bundles/yaml_json.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;

json read_back(const std::string& text) {
    const std::vector<YamlNode> documents = read_yaml("x.yaml", text);
    return documents.size() == 1 ? json_of(documents.front()) : json("not one document");
}

TEST(YamlTextTest, QuotesEveryString) {
    EXPECT_EQ(yaml_text(json::parse(R"({"dns": {"baseDomain": "no"}, "network": {"clusterNetwork":
        ["10.42.0.0/16", "1e3"], "empty": [], "none": {}}, "n": {"no": 1, "x": true, "y": -5,
        "1.5": 2.5, "memory.available": "5%", "": null}})")),
              R"(dns:
  baseDomain: "no"
"n":
  "": null
  "1.5": 2.5
  "memory.available": "5%"
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

TEST(YamlTextTest, GivesBackWhatItGets) {
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
    const std::string text = yaml_text(values);
    EXPECT_EQ(read_back(text), values) << text;
    EXPECT_EQ(yaml_text(json::parse(values.dump())), text);
    EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(YamlTextTest, RefusesWhatIsNoNumber) {
    EXPECT_THROW(static_cast<void>(yaml_text({{"a", std::numeric_limits<double>::quiet_NaN()}})),
                 Error);
    EXPECT_THROW(static_cast<void>(yaml_text({{"a", std::numeric_limits<double>::infinity()}})),
                 Error);
}

TEST(YamlTextTest, DeepValues) {
    json deep = "x";
    for (int i = 0; i < 60; ++i) {
        deep = i % 2 == 0 ? json::array({std::move(deep)}) : json{{"key", std::move(deep)}};
    }
    EXPECT_EQ(read_back(yaml_text(deep)), deep);
}

}  // namespace
}  // namespace edgegpu
