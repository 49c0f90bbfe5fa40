#include "disk/bios.hpp"

#include <string>

#include <gtest/gtest.h>

#include "disk/grub.hpp"
#include "disk/partitions.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// Debian's grub-pc-bin, as the lab's image has it.
GrubModules builder_modules() {
    GrubModules modules;
    for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/grub/i386-pc")) {
        if (entry.is_regular_file()) {
            modules.emplace(entry.path().filename().string(), read_file(entry.path()));
        }
    }
    return modules;
}

/// A core image for a disk that looks for the file system with this UUID.
GrubImage image_for(const std::string& boot_uuid) {
    GrubImage image;
    image.config = core_grub_cfg(boot_uuid);
    return image;
}

TEST(Bios, BootCodeNamesTheSectorOfTheCoreImage) {
    const std::string image(512, '\x55');
    const std::string code = master_boot_code(image, 2048);
    EXPECT_EQ(code.size(), 440U);
    EXPECT_EQ(hexadecimal(code.substr(0x5c, 8)), "0008000000000000");
    EXPECT_EQ(hexadecimal(code.substr(0x66, 2)), "9090");
    EXPECT_EQ(hexadecimal(code.substr(0x5a, 2)), "5555");
    EXPECT_THROW((void)master_boot_code("short", 2048), Error);
}

TEST(Bios, CoreImageKnowsWhereItsOtherSectorsAre) {
    const std::string core = placed_core_image(std::string(1025, 'x'), 2048);
    EXPECT_EQ(core.size(), 1536U);
    EXPECT_EQ(hexadecimal(core.substr(0x1f4, 12)), "010800000000000002002008");
    EXPECT_THROW((void)placed_core_image("x", 2048), Error);
    EXPECT_THROW((void)placed_core_image(std::string(1U << 20U, 'x'), 2048), Error);
}

TEST(Bios, CoreImageIsMadeOfTheImagesModulesAndIsTheSameEachTime) {
    if (!fs::exists("/usr/lib/grub/i386-pc/kernel.img")) {
        GTEST_SKIP() << "the lab's GRUB is not on this machine";
    }
    const test::CommitFixture fixture;
    const GrubModules modules = builder_modules();
    const std::string core = make_grub_image(fixture.ctx(), modules, image_for("1-2-3"));
    EXPECT_GT(core.size(), 20000U);
    EXPECT_EQ(core, make_grub_image(fixture.ctx(), modules, image_for("1-2-3")));
    EXPECT_NE(core, make_grub_image(fixture.ctx(), modules, image_for("1-2-4")));
}

TEST(Bios, DamagedModulesAreAnErrorOfGrub) {
    const test::CommitFixture fixture;
    const GrubModules damaged{{"kernel.img", "x"},
                              {"boot.img", "x"},
                              {"normal.mod",
                               "\x7f"
                               "ELF"},
                              {"moddep.lst", "normal: nothing\n"}};
    EXPECT_THROW((void)make_grub_image(fixture.ctx(), damaged, image_for("1-2-3")), Error);
}

}  // namespace
}  // namespace edgegpu
