#include "image/entries.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Names that sort around those below /a: '-' and '.' come before '/', '0' comes after it.
Entries tree() {
    Entries entries;
    for (const char* path :
         {"/", "/a", "/a-b", "/a.b", "/a/b", "/a/b/c", "/a/\xff", "/a0", "/ab"}) {
        entries[path] = {};
    }
    return entries;
}

std::vector<std::string> paths_of(const EntryRange& range) {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : range) {
        paths.push_back(path);
    }
    return paths;
}

std::vector<std::string> paths_of(const Entries& entries) {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : entries) {
        paths.push_back(path);
    }
    return paths;
}

TEST(Entries, BelowIsNeitherTheDirectoryNorItsNeighbours) {
    const Entries entries = tree();
    EXPECT_THAT(paths_of(entries_below(entries, "/a")), ElementsAre("/a/b", "/a/b/c", "/a/\xff"));
    EXPECT_THAT(paths_of(entries_below(entries, "/a/")), ElementsAre("/a/b", "/a/b/c", "/a/\xff"));
    EXPECT_THAT(paths_of(entries_below(entries, "/a/b")), ElementsAre("/a/b/c"));
    EXPECT_THAT(paths_of(entries_below(entries, "/ab")), IsEmpty());
    EXPECT_THAT(paths_of(entries_below(entries, "/missing")), IsEmpty());
}

TEST(Entries, BelowTheRootIsEverythingElse) {
    const Entries entries = tree();
    EXPECT_EQ(paths_of(entries_below(entries, "/")).size(), entries.size() - 1);
    EXPECT_EQ(entries_below(entries, "/").begin()->first, "/a");
    EXPECT_TRUE(entries_below({}, "/").empty());
}

TEST(Entries, PrefixesMayEndWithinAName) {
    const Entries entries = tree();
    EXPECT_THAT(paths_of(entries_with_prefix(entries, "/ab")), ElementsAre("/ab"));
    EXPECT_THAT(paths_of(entries_with_prefix(entries, "/a/b")), ElementsAre("/a/b", "/a/b/c"));
    EXPECT_EQ(paths_of(entries_with_prefix(entries, "/a")).size(), entries.size() - 1);
    EXPECT_EQ(paths_of(entries_with_prefix(entries, "")).size(), entries.size());
}

TEST(Entries, WhatIsBelowIsErasedWithoutTheTop) {
    Entries entries = tree();
    erase_below(entries, "/a");
    EXPECT_THAT(paths_of(entries), ElementsAre("/", "/a", "/a-b", "/a.b", "/a0", "/ab"));
    erase_below(entries, "/");
    EXPECT_THAT(paths_of(entries), ElementsAre("/"));
}

/// The path may be a view of the key that goes.
TEST(Entries, ASubtreeIsErasedByItsOwnKey) {
    Entries entries = tree();
    erase_subtree(entries, entries.find("/a")->first);
    EXPECT_THAT(paths_of(entries), ElementsAre("/", "/a-b", "/a.b", "/a0", "/ab"));
    EXPECT_THAT(paths_of(take_subtree(entries, entries.find("/ab")->first)), ElementsAre("/ab"));
}

TEST(Entries, ASubtreeIsErasedWithItsTop) {
    Entries entries = tree();
    erase_subtree(entries, "/a");
    EXPECT_THAT(paths_of(entries), ElementsAre("/", "/a-b", "/a.b", "/a0", "/ab"));
    erase_subtree(entries, "/missing");
    EXPECT_EQ(entries.size(), 5U);
    erase_subtree(entries, "/");
    EXPECT_TRUE(entries.empty());
}

TEST(Entries, ASubtreeIsTakenWithItsTop) {
    Entries entries = tree();
    entries["/a/b"].mode = 0700;
    const Entries taken = take_subtree(entries, "/a/b");
    EXPECT_THAT(paths_of(taken), ElementsAre("/a/b", "/a/b/c"));
    EXPECT_EQ(taken.at("/a/b").mode, 0700U);
    EXPECT_THAT(paths_of(entries), ElementsAre("/", "/a", "/a-b", "/a.b", "/a/\xff", "/a0", "/ab"));
    EXPECT_TRUE(take_subtree(entries, "/missing").empty());
}

TEST(Entries, ALinkHasItsTargetAndNothingElse) {
    const Entry link = link_to("../b");
    EXPECT_EQ(link.type, EntryType::symlink);
    EXPECT_EQ(link.target, "../b");
    EXPECT_EQ(link.mode, 0777U);
    EXPECT_EQ(link.uid + link.gid, 0U);
    EXPECT_EQ(link.size, 0U);
}

}  // namespace
}  // namespace edgegpu
