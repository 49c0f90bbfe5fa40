#include "support/text/terminal_text.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"

namespace edgegpu {
namespace {

TEST(TerminalText, WhatHasNoGlyphOrTurnsTheTextAroundIsEscaped) {
    for (const auto& [text, shown] :
         {std::pair<std::string, std::string>{"a\u202Egpj.exe", "a\\u202egpj.exe"},
          {"\u2066x\u2069", "\\u2066x\\u2069"},
          {"zero\u200Bwidth\u200D\uFEFF", "zero\\u200bwidth\\u200d\\ufeff"},
          {"soft\u00ADhyphen", "soft\\u00adhyphen"},
          {"line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"},
          {"tag\U000E0041", "tag\\udb40\\udc41"},
          {"\u3164\u115F\uFFA0\u2800", "\\u3164\\u115f\\uffa0\\u2800"},
          {"\u0085\u009B", "\\u0085\\u009b"},
          {"\x1b[2J\x7f", "\\x1b[2J\\u007f"},
          {"latin-1: \xe9", "latin-1: \\xe9"},
          {"overlong: \xc0\x9b", "overlong: \\xc0\\x9b"}}) {
        EXPECT_EQ(printable(text), shown);
    }
    const std::string plain = "ß 日本 é\u00a0\U0001F600 → \t\n";
    EXPECT_EQ(printable(plain), plain);
}

TEST(TerminalText, ErrorsShowNoneOfIt) {
    const std::string text = Error("package a\u202Eb").traced("\u200Bc").hinted("d\xff").render();
    EXPECT_EQ(text, "error: package a\\u202eb\n  \\u200bc\nhint: d\\xff\n");
}

TEST(TerminalText, AResultKeepsItsColorsAndADocumentItsMeaning) {
    EXPECT_EQ(printable_result("\033[1;31mred\033[0m \033[2J \033]0;t\007"),
              "\033[1;31mred\033[0m \\x1b[2J \\x1b]0;t\\x07");
    const nlohmann::json document = {{"name\u202E", "a\x7f\u009b\u2028\U000E0041 ß"}};
    const std::string text = printable_result(document.dump());
    EXPECT_EQ(text.find("\u202E"), std::string::npos);
    EXPECT_NE(text.find("ß"), std::string::npos);
    // A control character below U+0020 is in no document; DEL may be.
    EXPECT_EQ(nlohmann::json::parse(text), document) << text;
}

}  // namespace
}  // namespace edgegpu
