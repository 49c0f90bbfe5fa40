#include "support/tmpfiles_line.hpp"

#include <array>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu::test {
namespace {

constexpr std::array<std::string_view, 14> names{
    "plain", "a b", "tab\there", "say \"hi\"", "it's", "b\\x20c", "p%b%%", "\xc3\xbc\xe2\x82\xac",
    "#h",    ";s",  "$x",        "trail ",     "\\",   "\x01\x7f"};

TEST(TmpfilesLine, WritesFieldsThatEachSystemdReads) {
    EXPECT_EQ(tmpfiles_path("/var/a"), "/var/a");
    EXPECT_EQ(tmpfiles_path("/var/a b%c"), "\"/var/a b%%c\"");
    EXPECT_EQ(tmpfiles_path("/var/\"\\'"), R"("/var/\"\\'")");
    EXPECT_EQ(tmpfiles_field("/var/%b x"), "\"/var/%b x\"");
    EXPECT_EQ(tmpfiles_argument("../a b%\\\""), R"(../a\x20b%%\x5c")");
    EXPECT_EQ(tmpfiles_argument("-"), R"(\x2d)");
    EXPECT_THROW((void)tmpfiles_path("/var/a\nb"), Error);
}

TEST(TmpfilesLine, ReadsWhatItWrites) {
    for (const std::string_view name : names) {
        const std::string path = "/var/lib/" + std::string(name);
        const std::string line =
            "C " + tmpfiles_path(path) + " 0640 root adm - " + tmpfiles_argument(path);
        const auto parsed = parse_tmpfiles_line(line);
        ASSERT_TRUE(parsed) << line;
        EXPECT_EQ(without_specifiers(parsed->path), path) << line;
        EXPECT_EQ(without_specifiers(parsed->argument), path) << line;
        EXPECT_EQ(parsed->mode + parsed->user + parsed->group, "0640rootadm") << line;
    }
}

TEST(TmpfilesLine, ReadsThoseOfPackages) {
    const auto link = parse_tmpfiles_line("L+ /run/x\t- - -  -   ../a \"b\"  ");
    ASSERT_TRUE(link);
    EXPECT_EQ(link->type, "L+");
    EXPECT_EQ(link->argument, "../a \"b\"");
    EXPECT_EQ(link->rest, "\t- - -  -   ../a \"b\"");
    EXPECT_EQ(parse_tmpfiles_line("d '/srv/a b' 0755")->path, "/srv/a b");
    EXPECT_EQ(parse_tmpfiles_line("d /srv/a\\x20b")->path, "/srv/a b");
    EXPECT_EQ(parse_tmpfiles_line("L /etc/x - - - - -")->argument, "");
    EXPECT_EQ(without_specifiers("/run/%b"), std::nullopt);
    EXPECT_FALSE(parse_tmpfiles_line("# d /srv"));
    EXPECT_FALSE(parse_tmpfiles_line("  ; d /srv"));
    EXPECT_FALSE(parse_tmpfiles_line("d"));
    EXPECT_FALSE(parse_tmpfiles_line(""));
}

}  // namespace
}  // namespace edgegpu::test
