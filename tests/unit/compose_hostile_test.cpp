// What scriptlets can leave behind in the image's root, in the upper layer and in the record of the
// shims: nothing of it may lead to the builder's files.

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compose_fixture.hpp"
#include "image/capabilities.hpp"
#include "image/content.hpp"
#include "image/image_root.hpp"
#include "image/overlay.hpp"
#include "rootfs/owners.hpp"
#include "rootfs/shims.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

Entry directory_entry() {
    Entry entry;
    entry.type = EntryType::directory;
    entry.mode = 0755;
    return entry;
}

class ComposeHostile : public ::testing::Test {
protected:
    ComposeHostile() {
        fs::create_directories(outside_ / "etc");
        write_file(outside_ / "etc/key", "secret", 0600);
        fs::create_directories(tree_.root = top_ / "root");
        fs::create_directories(tree_.upper = top_ / "upper");
        tree_.entries["/"] = directory_entry();
    }

    ~ComposeHostile() override {
        EXPECT_EQ(read_file(outside_ / "etc/key"), "secret");
        struct stat status {};
        EXPECT_EQ(::stat((outside_ / "etc/key").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777U, 0600U);
        EXPECT_NE(status.st_uid, 12U);
        EXPECT_EQ(std::distance(fs::directory_iterator(outside_ / "etc"), {}), 1);
        remove_tree(top_);
    }

    void link(const fs::path& target, const fs::path& path) {
        ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0) << path;
    }

    [[nodiscard]] Entry file(std::string_view content, unsigned mode = 0644) const {
        return make_file_entry(fixture_.context, content, mode);
    }

    test::ComposeFixture fixture_;
    fs::path top_ = fixture_.directory.path() / "hostile";
    fs::path outside_ = fixture_.directory.path() / "outside";
    Tree tree_;
};

TEST_F(ComposeHostile, EntriesArePutInsideTheRoot) {
    put_entry(tree_, "/usr/share/x/a", file("a"));
    EXPECT_EQ(read_file(tree_.root / "usr/share/x/a"), "a");
    // A scriptlet turns the directory into a link, of which the tree knows nothing yet.
    remove_tree(tree_.root / "usr/share/x");
    link(outside_ / "etc", tree_.root / "usr/share/x");
    EXPECT_THROW(put_entry(tree_, "/usr/share/x/b", file("b")), Error);
    EXPECT_THROW(put_entry(tree_, "/usr/share/x/c/d", file("d")), Error);
    remove_entry(tree_, "/usr/share/x/key");
    // A directory where a link lies replaces the link.
    put_entry(tree_, "/usr/share/x", directory_entry());
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(tree_.root / "usr/share/x")));
    // A file where a link, a directory or a fifo lies.
    link(outside_ / "etc/key", tree_.root / "usr/share/x/key");
    put_entry(tree_, "/usr/share/x/key", file("mine", 0755));
    EXPECT_EQ(read_file(tree_.root / "usr/share/x/key"), "mine");
    fs::create_directories(tree_.root / "usr/share/y/z");
    put_entry(tree_, "/usr/share/y", file("y"));
    ASSERT_EQ(::mkfifo((tree_.root / "usr/share/fifo").c_str(), 0600), 0);
    put_entry(tree_, "/usr/share/fifo", file("f"));
    EXPECT_EQ(read_file(tree_.root / "usr/share/fifo"), "f");
}

TEST_F(ComposeHostile, OwnersAreGivenInsideTheRoot) {
    put_entry(tree_, "/etc/passwd", file("daemon:x:12:12::/:/bin/sh\n"));
    put_entry(tree_, "/etc/group", file("daemon:x:12:\n"));
    put_entry(tree_, "/usr/share/x/key", file("a", 04755));
    put_entry(tree_, "/usr/share/key", file("a", 04755));
    remove_tree(tree_.root / "usr/share/x");
    link(outside_ / "etc", tree_.root / "usr/share/x");
    fs::remove(tree_.root / "usr/share/key");
    link(outside_ / "etc/key", tree_.root / "usr/share/key");
    const std::vector<NamedOwner> owners{{"/usr/share/x/key", "daemon", "daemon", "p"},
                                         {"/usr/share/key", "daemon", "daemon", "p"}};
    EXPECT_TRUE(apply_owners(fixture_.context, tree_, owners, false).empty());
    EXPECT_EQ(tree_.entries.at("/usr/share/key").uid, 12U);
    EXPECT_EQ(ImageRoot(tree_.root).status("/usr/share/key")->st_uid, 12U);  // the link itself
    // The accounts themselves are no file any more.
    fs::remove(tree_.root / "etc/passwd");
    link(outside_ / "etc/key", tree_.root / "etc/passwd");
    fs::remove(tree_.root / "etc/group");
    ASSERT_EQ(::mkfifo((tree_.root / "etc/group").c_str(), 0600), 0);
    EXPECT_EQ(apply_owners(fixture_.context, tree_, owners, true).size(), 2U);
}

TEST_F(ComposeHostile, ShimsBindTheImagesOwnPrograms) {
    put_entry(tree_, "/bin/sh", file("shell", 0755));
    for (const char* name : {"systemctl", "udevadm", "hostnamectl", "localectl", "loginctl"}) {
        put_entry(tree_, std::string("/usr/bin/") + name, file(name, 0755));
    }
    Shims shims(tree_, {}, top_ / "shims");
    const ImageRoot root(tree_.root);
    const auto original = [&](const std::string& name) {
        return read_file(top_ / "shims/real" / name, 100);
    };
    const auto begins_as_shim = [&](const fs::path& path) {
        return read_file(tree_.root / path, 1U << 20U).starts_with("#!/bin/sh");
    };
    shims.cover(root);
    for (const char* name : {"systemctl", "udevadm", "hostnamectl", "localectl", "loginctl"}) {
        EXPECT_EQ(original(name), name);
        EXPECT_TRUE(begins_as_shim(std::string("usr/bin/") + name)) << name;
    }
    EXPECT_EQ(::open((tree_.root / "usr/bin/udevadm").c_str(), O_WRONLY | O_CLOEXEC), -1);
    EXPECT_EQ(errno, EROFS);

    // What programs may do to a directory takes the mounts along; they are found all the same.
    fs::rename(tree_.root / "usr/bin", tree_.root / "usr/old");
    fs::create_directory(tree_.root / "usr/bin");
    shims.cover(root);
    EXPECT_EQ(read_file(tree_.root / "usr/old/udevadm", 100), "udevadm");
    fs::rename(tree_.root / "usr/old/udevadm", tree_.root / "usr/bin/udevadm");
    link(outside_ / "etc/key", tree_.root / "usr/bin/systemctl");
    ASSERT_EQ(::mkfifo((tree_.root / "usr/bin/localectl").c_str(), 0755), 0);
    link("/etc/alternatives/loginctl", tree_.root / "usr/bin/loginctl");
    put_entry(tree_, "/etc/alternatives/loginctl", file("other", 0755));
    link("udevadm", tree_.root / "usr/bin/hostnamectl");
    shims.cover(root);
    EXPECT_EQ(original("udevadm"), "udevadm");
    EXPECT_EQ(original("hostnamectl"), "udevadm") << "not the shim that stands over udevadm";
    EXPECT_EQ(original("loginctl"), "other");
    EXPECT_TRUE(begins_as_shim("etc/alternatives/loginctl"));
    EXPECT_NE(read_file(outside_ / "etc/key", 100), "");
    EXPECT_FALSE(begins_as_shim(outside_ / "etc/key"));
    shims.uncover();
    EXPECT_EQ(read_file(tree_.root / "usr/bin/udevadm", 100), "udevadm");
    EXPECT_EQ(read_file(tree_.root / "etc/alternatives/loginctl", 100), "other");
    fs::remove(tree_.root / "usr/bin/udevadm");
}

TEST_F(ComposeHostile, TheRecordHoldsWhatShimsWrite) {
    const Shims shims(tree_, {}, top_ / "shims");
    const fs::path record = top_ / "shims/record";
    EXPECT_EQ(shims.record_fault(), "");
    EXPECT_FALSE(shims.ldconfig_called());
    EXPECT_TRUE(shims.take_policy_calls(fixture_.context, tree_).empty());
    write_file(record / "calls", format_calls({{"semodule", "-i", "/x"}}));
    write_file(record / "kept/0-module", "policy");
    write_file(record / "ldconfig", "");
    EXPECT_EQ(shims.record_fault(), "");
    EXPECT_TRUE(shims.ldconfig_called());
    EXPECT_EQ(shims.take_policy_calls(fixture_.context, tree_).size(), 1U);
    EXPECT_EQ(read_entry(tree_, std::string(replay_directory) + "/0-module"), "policy");

    const auto faulty = [&](const fs::path& path, const std::function<void()>& make) {
        make();
        EXPECT_NE(shims.record_fault(), "") << path;
        remove_tree(record / path);
    };
    faulty("other", [&] { write_file(record / "other", ""); });
    faulty("link", [&] { link(outside_ / "etc", record / "link"); });
    faulty("grubby", [&] { link(outside_ / "etc/key", record / "grubby"); });
    faulty("grubby", [&] { ASSERT_EQ(::mkfifo((record / "grubby").c_str(), 0600), 0); });
    faulty("grubby", [&] { fs::create_directory(record / "grubby"); });
    faulty("grubby", [&] {
        write_file(record / "grubby", "");
        ASSERT_EQ(::truncate((record / "grubby").c_str(), 1LL << 40U), 0);
    });
    faulty("kept/1-x", [&] { link(outside_ / "etc/key", record / "kept/1-x"); });
    faulty("kept/1-x", [&] { ASSERT_EQ(::mkfifo((record / "kept/1-x").c_str(), 0600), 0); });
    EXPECT_EQ(shims.record_fault(), "");
    remove_tree(record / "kept");
    EXPECT_EQ(shims.record_fault(), "kept is gone");
    link(outside_ / "etc", record / "kept");
    EXPECT_NE(shims.record_fault(), "");
    EXPECT_THROW(static_cast<void>(shims.take_policy_calls(fixture_.context, tree_)), Error);
    // And if nobody asked, nothing is followed.
    link(outside_ / "etc/key", record / "grubby");
    EXPECT_THROW(static_cast<void>(shims.grubby_calls()), Error);
}

TEST_F(ComposeHostile, SyncTakesWhatAnImageCanHold) {
    tree_.entries["/old"] = directory_entry();
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
