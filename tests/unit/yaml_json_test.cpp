#include "yaml/yaml_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

std::string json_text(const std::string& yaml) {
    return json_of(read_yaml("x.yaml", yaml).at(0)).dump();
}

TEST(YamlJson, PlainScalarsHaveTypes) {
    EXPECT_EQ(json_text("[true, Yes, on, FALSE, no, Off]"), "[true,true,true,false,false,false]");
    EXPECT_EQ(json_text("[~, null, NULL]"), "[null,null,null]");
    EXPECT_EQ(json_text("{a: }"), R"({"a":null})");
    EXPECT_EQ(json_text("[0, 12, -3, +4, 0755, 0o17, 0x1F, 0b101]"), "[0,12,-3,4,493,15,31,5]");
    EXPECT_EQ(json_text("[18446744073709551615, -9223372036854775808]"),
              "[18446744073709551615,-9223372036854775808]");
    EXPECT_EQ(json_text("[1.5, -.5, +2.0, 1e3, 18446744073709551616]"),
              "[1.5,-0.5,2.0,1000.0,1.8446744073709552e+19]");
}

TEST(YamlJson, OtherScalarsAreStrings) {
    EXPECT_EQ(json_text("['true', \"12\", '', ' ~']"), R"(["true","12",""," ~"])");
    EXPECT_EQ(
        json_text("[yEs, y, n, 1.2.3, 1Gi, 500m, 08, 0x, -, +, ., --1, +-1, inf, nan, 1e]"),
        R"(["yEs","y","n","1.2.3","1Gi","500m",8.0,"0x","-","+",".","--1","+-1","inf","nan","1e"])");
    EXPECT_EQ(json_text("text: |\n  12\n"), R"({"text":"12\n"})");
}

TEST(YamlJson, ListsAndObjects) {
    EXPECT_EQ(json_text("a: [1, {b: c}]\nd: {}\ne: []\n"), R"({"a":[1,{"b":"c"}],"d":{},"e":[]})");
}

}  // namespace
}  // namespace edgegpu
