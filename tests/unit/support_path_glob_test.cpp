#include <regex>

#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/path_glob.hpp"

namespace edgegpu {
namespace {

TEST(PathGlob, StarsAndSlashes) {
    EXPECT_TRUE(PathGlob("/usr/bin/*").matches("/usr/bin/x"));
    EXPECT_FALSE(PathGlob("/usr/bin/*").matches("/usr/bin/x/y"));
    EXPECT_FALSE(PathGlob("/usr/bin/*").matches("/usr/bin"));
    EXPECT_TRUE(PathGlob("/opt/**/lib*.so").matches("/opt/a/b/libx.so"));
    EXPECT_FALSE(PathGlob("/opt/**").matches("/opt"));
    EXPECT_TRUE(PathGlob("/a?[!x-z]").matches("/abc"));
    EXPECT_FALSE(PathGlob("/a?[!x-z]").matches("/aby"));
    EXPECT_FALSE(PathGlob("/a?c").matches("/a/c"));
    EXPECT_FALSE(PathGlob("/a[!x]c").matches("/a/c"));
    EXPECT_TRUE(PathGlob("/a\\*").matches("/a*"));
    EXPECT_FALSE(PathGlob("/a\\*").matches("/ab"));
}

TEST(PathGlob, RegularExpressionsMatchTheSame) {
    const char* patterns[] = {"/usr/bin/*",  "/usr/**",        "/a.b+c",         "/[a-c]x",
                              "/[!a]x",      "/lib(1)/{x}|y$", "/**/*.so.?",     "/a b/*",
                              "/x^\\[y\\]z", "/[]x]",          "/a/*/c/**/[0-9]"};
    const char* paths[] = {"/usr/bin/x",  "/usr/bin/x/y",
                           "/usr",        "/a.b+c",
                           "/axb+c",      "/ax",
                           "/bx",         "//x",
                           "/dx",         "/a/b.so",
                           "/]",          "/x",
                           "/a/b.so.1",   "/lib(1)/{x}|y$",
                           "/a b/cd",     "/x^[y]z",
                           "/a/b/c/d/e/7"};
    for (const char* pattern : patterns) {
        const PathGlob glob(pattern);
        const std::regex regex(glob.regex());
        for (const char* path : paths) {
            EXPECT_EQ(glob.matches(path), std::regex_match(path, regex))
                << pattern << " " << glob.regex() << " " << path;
        }
    }
    EXPECT_EQ(PathGlob("/usr/bin/*.x").regex(), "/usr/bin/[^/]*\\.x");
    EXPECT_EQ(PathGlob("/a b").regex(), "/a\\sb");
}

TEST(PathGlob, WhatCannotBeReadIsRefused) {
    EXPECT_THROW(PathGlob("/a["), Error);
    EXPECT_THROW(PathGlob("/a[b"), Error);
    EXPECT_THROW(PathGlob("/a[z-a]"), Error);
    EXPECT_THROW(PathGlob("/a\\"), Error);
}

}  // namespace
}  // namespace edgegpu
