#include "rootfs/shims.hpp"

#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <unistd.h>

#include "hostile_root.hpp"
#include "image/image_root.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeHostile;

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

TEST_F(ComposeHostile, ShimsCoverSusesBootLoaderPrograms) {
    put_entry(tree_, "/bin/sh", file("shell", 0755));
    put_entry(tree_, "/usr/sbin/pbl", file("pbl", 0755));
    link("pbl", tree_.root / "usr/sbin/update-bootloader");
    // Before perl-Bootloader 1.0 it is a program of its own.
    put_entry(tree_, "/usr/lib/bootloader/bootloader_entry", file("entry", 0755));
    put_entry(tree_, "/usr/bin/mkinitrd", file("mkinitrd", 0755));
    Shims shims(tree_, {}, top_ / "shims");
    shims.cover(ImageRoot(tree_.root));
    for (const char* path : {"usr/sbin/pbl", "usr/sbin/update-bootloader", "usr/bin/mkinitrd",
                             "usr/lib/bootloader/bootloader_entry"}) {
        EXPECT_TRUE(read_file(tree_.root / path, 1U << 20U).starts_with("#!/bin/sh")) << path;
    }
    EXPECT_EQ(read_file(top_ / "shims/real/pbl", 100), "pbl");
    shims.uncover();
    EXPECT_EQ(read_file(tree_.root / "usr/sbin/pbl", 100), "pbl");
}

TEST_F(ComposeHostile, OriginalsAreSmallAndNotSetId) {
    put_entry(tree_, "/bin/sh", file("shell", 0755));
    put_entry(tree_, "/usr/bin/udevadm", file("udevadm", 0755));
    Shims shims(tree_, {}, top_ / "shims");
    const fs::path program = tree_.root / "usr/bin/udevadm";
    ASSERT_EQ(::chmod(program.c_str(), 06755), 0);
    shims.cover(ImageRoot(tree_.root));
    EXPECT_EQ(fs::status(top_ / "shims/real/udevadm").permissions(), fs::perms(0755));
    shims.uncover();
    // It would fill the disk of the build machine: a copy has no holes.
    ASSERT_EQ(::truncate(program.c_str(), 1LL << 40U), 0);
    EXPECT_THROW(shims.cover(ImageRoot(tree_.root)), Error);
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
    EXPECT_EQ(shims.record_fault(), "kept is missing");
    link(outside_ / "etc", record / "kept");
    EXPECT_NE(shims.record_fault(), "");
    EXPECT_THROW(static_cast<void>(shims.take_policy_calls(fixture_.context, tree_)), Error);
    // And if nobody asked, nothing is followed.
    link(outside_ / "etc/key", record / "grubby");
    EXPECT_THROW(static_cast<void>(shims.grubby_calls()), Error);
}

}  // namespace
}  // namespace edgegpu
