#include "transfer/xml_encoding.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

std::string problem(const std::string& text) {
    return xml_problem(text).value_or("");
}

TEST(XmlEncoding, WhatRepositoriesWrite) {
    for (const char* text :
         {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<repomd/>",
          "<?xml version='1.0' encoding='utf-8' standalone='yes' ?><repomd/>",
          "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?><repomd/>",
          "<?xml version = \"1.0\"\r\n\tencoding = \"US-ASCII\"?><repomd/>",
          "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><repomd/>",
          "<?xml version=\"1.0\"?><repomd/>", "\n <repomd/>", "<repomd encoding=\"UTF-7\"/>",
          "<!-- encoding=\"UTF-7\" --><repomd/>"}) {
        EXPECT_EQ(problem(text), "") << text;
    }
}

TEST(XmlEncoding, WhatIsLeftToIconvIsRefused) {
    for (const char* encoding : {"UTF-7", "UTF-16", "Shift_JIS", "windows-1252", "UTF-8-MAC", ""}) {
        const std::string said = std::string("its encoding is '") + encoding +
                                 "', but only UTF-8, ASCII and ISO-8859-1 are read";
        for (const char* before :
             {" version=\"1.0\" ", " version=\"1.0\"", "\t", "",
              " version=\"1.0\" encoding=\"UTF-8\" ", " version=\"encoding='UTF-8'\" "}) {
            const std::string declaration = std::string("<?xml") + before + "encoding=";
            EXPECT_EQ(problem(declaration + '"' + encoding + "\"?><r/>"), said) << before;
            EXPECT_EQ(problem("\xef\xbb\xbf" + declaration + '\'' + encoding + "' ?><r/>"), said);
        }
    }
}

TEST(XmlEncoding, WhatTheFirstBytesTellIsRefused) {
    const std::string utf16("<\0?\0x\0m\0l\0", 10);
    const std::string utf32("<\0\0\0?\0\0\0", 8);
    for (const std::string& text :
         {utf16, "\xff\xfe" + utf16, '\0' + utf16, "\xfe\xff" + ('\0' + utf16), utf32,
          std::string(3, '\0') + utf32, std::string("\x4c\x6f\xa7\x94"), std::string("plain"),
          std::string("\0<", 2), std::string(" \0<", 3)}) {
        EXPECT_EQ(problem(text), "it is not XML in UTF-8") << text;
    }
}

TEST(XmlEncoding, ADeclarationMustBeWhole) {
    for (const char* text : {"<?xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"",
                             "<?xml version=\"1.0\" encoding=\"UTF-8?><r/>", "<?xml x y?><r/>",
                             "<?xml version=1.0 encoding=\"UTF-8\"?><r/>", "<?xml encoding="}) {
        EXPECT_EQ(problem(text), "its XML declaration is invalid") << text;
    }
}

TEST(XmlEncoding, AnEmptyDocumentIsLeftToTheParser) {
    EXPECT_EQ(problem(""), "");
    EXPECT_EQ(problem(" \n"), "");
}

}  // namespace
}  // namespace edgegpu
