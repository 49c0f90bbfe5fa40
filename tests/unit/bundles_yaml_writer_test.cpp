#include "bundles/yaml_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles/yaml_json.hpp"
#include "support/error.hpp"

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
         {std::string(), std::string("yes"), std::string("1.20"), std::string("null"),
          std::string("a\nb: c\n"), std::string("\n---\nkind: Secret\n"), std::string("it's \"x\""),
          std::string("*alias"), std::string("&a b"), std::string("!!int 3"), std::string("# no"),
          std::string("- x"), std::string("  \n  "), std::string("tab\there\r\n"),
          std::string("{a: b}"), std::string("\x01\x7f"), std::string("z\0ro", 4),
          std::string("\xc3\xa4 \xe2\x80\xa8 \xf0\x9f\x98\x80 \xef\xbb\xbf"), std::string("%YAML"),
          std::string("\\n \\x41"), std::string("..."), std::string("? k"), long_words}) {
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

}  // namespace
}  // namespace edgegpu::test
