#include "machine/console_progress.hpp"

#include <string>

#include <glib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using Phase = ConsoleProgress::Phase;
using ::testing::ElementsAre;

ConsoleProgress after(std::string_view text) {
    ConsoleProgress progress;
    // As it comes: in pieces that end anywhere.
    for (std::size_t at = 0; at < text.size(); at += 7) {
        progress.take(text.substr(at, 7));
    }
    return progress;
}

TEST(ConsoleProgress, FollowsABoot) {
    ConsoleProgress progress;
    EXPECT_EQ(progress.summary(), "firmware");
    progress.take("\033[2J\033[01;01H\033[=3hBdsDxe: loading Boot0001\r\n");
    EXPECT_EQ(progress.summary(), "firmware");
    progress.take("BdsDxe: starting Boot0001 \"UEFI Misc Device\"\r\n");
    EXPECT_EQ(progress.summary(), "boot loader");
    progress.take("\033[0m\033[30m\033[47mWelcome to GRUB!\n\r\n\r");
    EXPECT_EQ(progress.phase(), Phase::boot_loader);
    progress.take("[    0.000000] Linux version 6.1.0\r\n[    1.234567] zbud: loaded\r\n");
    EXPECT_EQ(progress.summary(), "kernel: zbud: loaded");
    progress.take("[    2.0] systemd[1]: Detected virtualization qemu.\r\n");
    EXPECT_EQ(progress.phase(), Phase::system);
    progress.take("\033[0m[\033[0;32m  OK  \033[0m] Reached target \033[0;1;39mBasic System.\r\n");
    progress.take("edge login: ");
    EXPECT_EQ(progress.summary(), "system: Reached target Basic System.");
    progress.restart();
    EXPECT_EQ(progress.summary(), "firmware");
    EXPECT_EQ(progress.failure(), "");
}

TEST(ConsoleProgress, ShowsNothingThatDrivesATerminal) {
    const ConsoleProgress progress = after(
        "[    0.000000] Linux version\n[    1.0] "
        "a\x07\x08\x9b\033]0;title\x07z\033c\033[31mred\x01\n");
    for (const std::string& text : {progress.summary(), progress.last(9).back()}) {
        EXPECT_EQ(text.find_first_of(std::string("\0\x01\x07\x08\x1b", 5)), text.npos) << text;
        EXPECT_TRUE(g_utf8_validate(text.c_str(), -1, nullptr)) << text;
    }
    EXPECT_LE(progress.summary().size(), 90U);
}

TEST(ConsoleProgress, KnowsBootsThatAreOver) {
    EXPECT_EQ(
        after("[    1.0] ---[ end Kernel panic - not syncing: VFS: no root ]---\r\n").failure(),
        "kernel panic: VFS: no root");
    EXPECT_EQ(after("You are in emergency mode. After logging in, type\n").failure(),
              "systemd's emergency mode");
    EXPECT_EQ(after("Entering emergency mode. Exit the shell to continue.\n").failure(),
              "dracut's emergency shell");
    EXPECT_EQ(after("\rgrub rescue> ").failure(), "GRUB's rescue shell");
    EXPECT_EQ(after("No bootable device.\n").failure(), "the firmware found nothing to boot");
    EXPECT_EQ(after("\033[33mShell> \033[0m").failure(),
              "the firmware's shell: it found nothing to boot");
}

TEST(ConsoleProgress, DoesNotGiveUpWhatGoesOn) {
    // With panic=10, the boot loader counts it.
    EXPECT_EQ(
        after("[    1.0] Kernel panic - not syncing: VFS\n[    1.1] Rebooting in 10 seconds..\n")
            .failure(),
        "");
    EXPECT_EQ(after("my-service[7]: You are in emergency mode\n").failure(), "");
    EXPECT_EQ(after("[  OK  ] Reached target emergency.target - Emergency Mode.\n").failure(), "");
}

TEST(ConsoleProgress, KeepsLittleOfMuch) {
    const ConsoleProgress endless = after(std::string(100000, 'x'));
    ASSERT_EQ(endless.last(3).size(), 1U);
    EXPECT_EQ(endless.last(3).front().size(), 1000U);
    std::string many;
    for (int i = 0; i < 5000; ++i) {
        many += "line " + std::to_string(i) + "\r\n\r\n";
    }
    EXPECT_THAT(after(many + "half").last(3), ElementsAre("line 4998", "line 4999", "half"));
    EXPECT_LE(after(many).last(100000).size(), 100U);
    EXPECT_EQ(after("\033[" + std::string(5000, ';') + "\nend\n").last(1).front(), "end");
}

}  // namespace
}  // namespace edgegpu
