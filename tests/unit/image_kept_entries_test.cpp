#include "image/kept_entries.hpp"

#include <gtest/gtest.h>

#include "compose_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;

Entries sample(const Context& ctx) {
    Entries entries;
    entries["/usr/bin/tool"] = make_file_entry(ctx, "content", 04755);
    entries["/usr/bin/tool"].uid = 7;
    entries["/usr/bin/tool"].gid = 8;
    entries["/usr/bin/tool"].capabilities = std::string("\1\0\0\2\t\n", 6);
    Entry directory;
    directory.type = EntryType::directory;
    directory.mode = 0750;
    entries["/usr/lib/a directory"] = directory;
    Entry link;
    link.type = EntryType::symlink;
    link.mode = 0777;
    link.target = "../bin/tool";
    entries["/usr/lib/link"] = link;
    return entries;
}

TEST(KeptEntries, ComeBackAsTheyWere) {
    const ComposeFixture fixture;
    const Entries entries = sample(fixture.context);
    const std::optional<std::string> text = format_entries(fixture.context, entries);
    ASSERT_TRUE(text.has_value());
    const std::optional<Entries> read = parse_entries(fixture.context, *text);
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(read->size(), 3U);
    const Entry& file = read->at("/usr/bin/tool");
    EXPECT_EQ(file.mode, 04755U);
    EXPECT_EQ(file.uid, 7U);
    EXPECT_EQ(file.gid, 8U);
    EXPECT_EQ(file.size, 7U);
    EXPECT_EQ(file.digest, sha256_hex("content"));
    EXPECT_EQ(read_file(file.content), "content");
    EXPECT_EQ(file.capabilities, std::string("\1\0\0\2\t\n", 6));
    EXPECT_EQ(read->at("/usr/lib/a directory").type, EntryType::directory);
    EXPECT_EQ(read->at("/usr/lib/a directory").mode, 0750U);
    EXPECT_EQ(read->at("/usr/lib/link").target, "../bin/tool");
}

TEST(KeptEntries, WhatTheLinesCannotSayIsNotKept) {
    const ComposeFixture fixture;
    Entries named = sample(fixture.context);
    named["/usr/a\nb"] = named.at("/usr/bin/tool");
    EXPECT_FALSE(format_entries(fixture.context, named).has_value());
    Entries linked = sample(fixture.context);
    linked["/usr/lib/link"].target = "a\tb";
    EXPECT_FALSE(format_entries(fixture.context, linked).has_value());
}

TEST(KeptEntries, AreNotUsedWithoutTheirContent) {
    const ComposeFixture fixture;
    const Entries entries = sample(fixture.context);
    const std::string text = format_entries(fixture.context, entries).value();
    std::string content = read_file(entries.at("/usr/bin/tool").content);
    content[0] ^= 1;
    write_file(entries.at("/usr/bin/tool").content, content);
    EXPECT_FALSE(parse_entries(fixture.context, text).has_value());
    write_file(entries.at("/usr/bin/tool").content, "cut");
    EXPECT_FALSE(parse_entries(fixture.context, text).has_value());
    std::filesystem::remove(entries.at("/usr/bin/tool").content);
    EXPECT_FALSE(parse_entries(fixture.context, text).has_value());
}

TEST(KeptEntries, DamagedLinesAreNotUsed) {
    const ComposeFixture fixture;
    EXPECT_FALSE(parse_entries(fixture.context, "d\t755\t0\t0\t0\t\t\t/usr\t").has_value());
    EXPECT_FALSE(parse_entries(fixture.context, "d\t7x5\t0\t0\t0\t\t\t/usr\t\t\n").has_value());
    EXPECT_TRUE(parse_entries(fixture.context, "d\t755\t0\t0\t0\t\t\t/usr\t\t\n").has_value());
}

}  // namespace
}  // namespace edgegpu
