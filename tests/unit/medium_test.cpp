#include "installer/medium.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

TEST(MediumKernelArgumentsTest, AreTheImagesWithoutItsRoot) {
    EXPECT_EQ(medium_kernel_arguments({"root=UUID=1", "rw", "rootflags=x", "console=ttyS1,9600",
                                       "pci=nomsi", "quiet", "init=/bin/sh", "rdinit=/x",
                                       "rd.luks.name=U=root", "rd.luks.options=U=x",
                                       "ostree=/ostree/boot.1/a/b/0"}),
              "rdinit=/edgegpu/install console=ttyS1,9600 pci=nomsi");
}

TEST(MediumKernelArgumentsTest, NamesAreWhole) {
    EXPECT_EQ(medium_kernel_arguments({"console=tty0", "rootwait", "rw.x=1", "quiet_boot"}),
              "rdinit=/edgegpu/install console=tty0 rootwait rw.x=1 quiet_boot");
}

TEST(MediumKernelArgumentsTest, WithoutAConsoleThereIsTheSerialPort) {
    EXPECT_EQ(medium_kernel_arguments({}),
              "rdinit=/edgegpu/install console=ttyS0,115200n8 console=tty0");
}

TEST(MediumKernelArgumentsTest, CannotBeCommandsOfGrub) {
    EXPECT_EQ(medium_kernel_arguments({"console=tty0", "x=$root;halt", "z=\"{}\""}),
              "rdinit=/edgegpu/install console=tty0 'x=$root;halt' 'z={}'");
}

TEST(MediumKernelArgumentsTest, BlanksReachTheKernelInOneArgument) {
    // GRUB puts quotes around what has blanks, and a backslash before quotes in it.
    EXPECT_EQ(medium_kernel_arguments({"console=tty0", R"(dyndbg="file a.c +p; file b.c +p")",
                                       R"("x=a b")", R"(a=b\x2dc)"}),
              "rdinit=/edgegpu/install console=tty0 'dyndbg=file a.c +p; file b.c +p' 'x=a b' "
              "'a=b\\x2dc'");
}

TEST(MediumKernelArgumentsTest, WhatGrubCannotPassIsAnError) {
    for (const char* argument : {R"(a=b"c d")", R"(a=b\c)", R"(a=\x2)", "a=it's"}) {
        try {
            static_cast<void>(medium_kernel_arguments({argument}));
            ADD_FAILURE() << argument;
        } catch (const Error& caught) {
            EXPECT_NE(caught.message().find(argument), std::string::npos) << caught.message();
            EXPECT_FALSE(caught.hint().empty());
        }
    }
}

TEST(MediumGrubCfgTest, StartsWhatIsInstalledAlready) {
    MediumBoot boot;
    boot.title = "edge 1.0 @BOOT_UUID@";
    boot.arguments = "rdinit=/edgegpu/install";
    boot.boot_uuid = "0123-4567";
    const std::string config = medium_grub_cfg(boot);
    EXPECT_NE(config.find("--fs-uuid --set=installed 0123-4567\n"), std::string::npos) << config;
    EXPECT_NE(config.find("  set default=installed\n"), std::string::npos) << config;
    EXPECT_NE(config.find("  linux /edgegpu/vmlinuz rdinit=/edgegpu/install\n"), std::string::npos)
        << config;
    // A title is not searched for names again.
    EXPECT_NE(config.find("menuentry \"Install edge 1.0 @BOOT_UUID@\""), std::string::npos)
        << config;
}

}  // namespace
}  // namespace edgegpu
