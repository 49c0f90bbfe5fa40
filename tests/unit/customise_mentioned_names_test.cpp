#include <gtest/gtest.h>

#include "customise/mentioned_names.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

MentionedNames names_of(std::string_view script) {
    MentionedNames names;
    names.add_script(script);
    return names;
}

TEST(MentionedNames, WordsOfAScriptAreNames) {
    const MentionedNames names = names_of(
        "require_binaries lvm || return 1\n"
        "inst_multiple -o \"$systemdutildir\"/systemd-ac-power 'mount.nfs' /sbin/blkid\n"
        "[[ -x /usr/bin/cat ]] && a=xfs_db\n");
    for (const char* path :
         {"/usr/sbin/lvm", "/usr/lib/systemd/systemd-ac-power", "/usr/sbin/mount.nfs",
          "/usr/bin/blkid", "/usr/bin/cat", "/usr/sbin/xfs_db"}) {
        EXPECT_TRUE(names.contains(path)) << path;
    }
    EXPECT_FALSE(names.contains("/usr/bin/jq"));
    EXPECT_FALSE(names.contains("/usr/bin/lvm2"));
    EXPECT_FALSE(names.contains("/usr/bin/"));
}

TEST(MentionedNames, WhatTheShellPutsInFitsAnything) {
    const MentionedNames names = names_of(
        "inst /sbin/fsck* /sbin/mkfs.${type:-x}\n"
        "inst_libdir_file {\"tls/$_arch/\",tls/,\"$_arch/\",}\"libnss_*\"\n"
        "inst \"$unitdir/fsck@\"$name.service `which helper`-daemon tool-$(uname -m).bin\n"
        "inst /etc/sub[0-9]id plugin-?.so mount.{nfs,cifs}\n");
    for (const char* path :
         {"/usr/sbin/fsck.ext4", "/usr/sbin/mkfs.xfs", "/usr/lib64/libnss_files.so.2",
          "/usr/lib/systemd/system/fsck@dev.service", "/usr/bin/helper", "/usr/bin/some-daemon",
          "/usr/bin/tool-x86_64.bin", "/usr/lib/plugin-a.so", "/usr/sbin/mount.cifs",
          "/usr/bin/sub0id"}) {
        EXPECT_TRUE(names.contains(path)) << path;
    }
    EXPECT_FALSE(names.contains("/usr/sbin/mkfs"));
    EXPECT_FALSE(names.contains("/usr/lib64/libc.so.6"));
}

TEST(MentionedNames, PatternsOfHardlyAnythingDoNotCount) {
    const MentionedNames names =
        names_of("case $1 in *-*) ;; a*) ;; esac\n[[ $1 == *.so.* ]]\nfor i in $x \"$@\"; do\n");
    EXPECT_FALSE(names.contains("/usr/bin/a-b"));
    EXPECT_FALSE(names.contains("/usr/lib64/libc.so.6"));
}

TEST(MentionedNames, ListedDirectoriesCountAsAWhole) {
    const MentionedNames names =
        names_of("inst_multiple /usr/lib/extensions/* \"$dir/system.attached/*\" \"$dir\"/*\n");
    EXPECT_TRUE(names.contains("/usr/lib/extensions/anything"));
    EXPECT_TRUE(names.contains("/etc/systemd/system.attached/x.service"));
    EXPECT_FALSE(names.contains("/usr/lib/anything"));
    EXPECT_FALSE(names.contains("/usr/lib/other-extensions/anything"));
}

TEST(MentionedNames, OddTextIsRead) {
    for (const char* text : {"", "$", "${", "{", "[", "a${", "'", "\"$\"", "`", "$(", "/", "*",
                             "//*", "a/", "$/x", "\\", "[]", "${}"}) {
        EXPECT_FALSE(names_of(text).contains("/usr/bin/jq")) << text;
    }
    EXPECT_TRUE(names_of("abc${").contains("/abcdef"));
}

TEST(MentionedNames, RulesOfUdevNamePrograms) {
    MentionedNames names;
    names.add_words("ENV{DM_NAME}==\"?*\", RUN+=\"/usr/bin/helper --x\", SYMLINK+=\"video*\"\n");
    EXPECT_TRUE(names.contains("/usr/bin/helper"));
    EXPECT_FALSE(names.contains("/usr/bin/video-tool"));
}

class NamesOfDracut : public TreeTest {};

TEST_F(NamesOfDracut, ScriptsConfigurationAndRulesCount) {
    file("/usr/lib/dracut/modules.d/90x/module-setup.sh", "inst_multiple from-module\n");
    file("/usr/lib/dracut/dracut-install", std::string("from-binary\0 x", 13));
    file("/etc/dracut.conf.d/a.conf", "install_items+=\" /usr/bin/from-configuration \"\n");
    file("/usr/lib/udev/rules.d/60-x.rules", "PROGRAM=\"from-rules %p\"\n");
    file("/usr/share/doc/x", "from-elsewhere\n");
    const MentionedNames names = names_of_dracut(tree);
    EXPECT_TRUE(names.contains("/usr/bin/from-module"));
    EXPECT_TRUE(names.contains("/usr/bin/from-configuration"));
    EXPECT_TRUE(names.contains("/usr/bin/from-rules"));
    EXPECT_FALSE(names.contains("/usr/bin/from-binary"));
    EXPECT_FALSE(names.contains("/usr/bin/from-elsewhere"));
}

}  // namespace
}  // namespace edgegpu::test
