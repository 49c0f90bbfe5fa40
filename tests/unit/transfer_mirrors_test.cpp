#include "transfer/mirrors.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

/// A metalink of that encoding, with `mirror` in the URL of its only mirror.
std::string metalink(const std::string& encoding, const std::string& mirror) {
    return "<?xml version=\"1.0\" encoding=\"" + encoding +
           "\"?>\n<metalink version=\"3.0\" xmlns=\"http://www.metalinker.org/\"><files>"
           "<file name=\"repomd.xml\"><size>10</size><verification><hash type=\"sha256\">" +
           std::string(64, 'a') +
           "</hash></verification><resources><url protocol=\"https\" type=\"https\">"
           "https://example.invalid/" +
           mirror + "/repodata/repomd.xml</url></resources></file></files></metalink>\n";
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(read_metalink(Repository(), text));
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

TEST(Metalink, ListsItsMirrors) {
    const MirrorList list = read_metalink(Repository(), metalink("utf-8", "r"));
    ASSERT_EQ(list.mirrors.size(), 1U);
    EXPECT_EQ(list.mirrors[0], "https://example.invalid/r/");
    EXPECT_EQ(list.promises.size(), 1U);
}

TEST(Metalink, AnEncodingThatIconvMayFailToConvertDoesNotReachTheParser) {
    // librepo 1.14 dereferences a null pointer where iconv cannot go on.
    EXPECT_EQ(refusal(metalink("UTF-7", "\xff")),
              "cannot be read: its encoding is 'UTF-7', but only UTF-8, ASCII and ISO-8859-1 are "
              "read");
    EXPECT_TRUE(refusal(metalink("UTF-8", "\xff")).starts_with("cannot be read: Parse error"));
}

}  // namespace
}  // namespace edgegpu
