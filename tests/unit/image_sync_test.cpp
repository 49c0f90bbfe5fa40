#include <fcntl.h>

#include "hostile_root.hpp"
#include "image/capabilities.hpp"
#include "image/image_root.hpp"
#include "image/overlay.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeHostile;

TEST_F(ComposeHostile, SyncTakesWhatAnImageCanHold) {
    tree_.entries["/old"] = directory_entry(0755);
    tree_.entries["/old/file"] = file("old");
    tree_.entries["/gone"] = file("gone");
    tree_.entries["/pipe"] = file("was a file");
    const ImageRoot upper(tree_.upper);
    upper.make_directory("/old", {1, 2, 0700, {}});
    upper.set_attribute("/old", opaque_mark, "y");
    upper.make_special("/gone", S_IFCHR, {});
    upper.make_special("/pipe", S_IFIFO, {0, 0, 0644, {}});
    upper.make_special("/socket", S_IFSOCK, {0, 0, 0644, {}});
    upper.make_link("/link", (outside_ / "etc/key").string(), 3, 4);
    upper.write("/old/a\nb", "text", {5, 6, 04755, parse_capabilities("cap_chown=ep")});
    const fs::path copy = top_ / "copy";
    copy_layer(fixture_.context, tree_.upper, copy);
    for (const fs::path& layer : {tree_.upper, copy}) {
        Tree tree = tree_;
        tree.upper = layer;
        sync_tree(fixture_.context, tree);
        EXPECT_FALSE(tree.entries.contains("/old/file"));
        EXPECT_FALSE(tree.entries.contains("/gone"));
        EXPECT_FALSE(tree.entries.contains("/pipe"));
        EXPECT_FALSE(tree.entries.contains("/socket"));
        EXPECT_EQ(tree.entries.at("/link").target, outside_ / "etc/key");
        EXPECT_EQ(tree.entries.at("/link").uid, 3U);
        const Entry& made = tree.entries.at("/old/a\nb");
        EXPECT_EQ(made.uid, 5U);
        EXPECT_EQ(made.mode, 04755U);
        EXPECT_EQ(made.capabilities, parse_capabilities("cap_chown=ep"));
        EXPECT_EQ(read_file(made.content), "text");
        EXPECT_EQ(tree.entries.at("/old").mode, 0700U);
        EXPECT_EQ(tree.entries.size(), 4U);
    }
}

TEST_F(ComposeHostile, WhatNoBuildCanReadIsAnError) {
    write_file(tree_.upper / "sparse", "");
    ASSERT_EQ(::truncate((tree_.upper / "sparse").c_str(), 1LL << 40U), 0);
    EXPECT_NE(test::error_message([&] { sync_tree(fixture_.context, tree_); }).find("/sparse"),
              std::string::npos);
    fs::remove(tree_.upper / "sparse");
    Fd here(::open(tree_.upper.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(250, 'd');  // deeper than a path can say, and soon
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(::mkdirat(here.get(), name.c_str(), 0700), 0);
        here = Fd(::openat(here.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    EXPECT_NE(test::error_message([&] { sync_tree(fixture_.context, tree_); }).find("longer than"),
              std::string::npos);
    EXPECT_THROW(copy_layer(fixture_.context, tree_.upper, top_ / "copy"), Error);
}

}  // namespace
}  // namespace edgegpu
