#include "disk/grub.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

constexpr const char* grub_boot_id = "11111111-2222-8333-8444-555555555555";

/// What GRUB's own parser says.
std::string grub_says(const std::string& script) {
    const test::CommitFixture fixture;
    const std::filesystem::path file = fixture.directory() / "grub.cfg";
    write_file(file, script);
    int status = 0;
    std::string said = test::output_of("grub-script-check " + file.string(), &status);
    return status == 0 ? "" : said + " status " + std::to_string(status);
}

TEST(Grub, ReadsEveryConfiguration) {
    EXPECT_EQ(grub_says(boot_grub_cfg(grub_boot_id, true)), "");
    EXPECT_EQ(grub_says(boot_grub_cfg(grub_boot_id, false)), "");
    EXPECT_EQ(grub_says(esp_grub_cfg(grub_boot_id)), "");
    EXPECT_EQ(grub_says(core_grub_cfg(grub_boot_id)), "");
    EXPECT_NE(grub_says("if true; then\n"), "");
}

TEST(Grub, ReadsEntriesItselfOrHasOstreeWriteThem) {
    const std::string own = boot_grub_cfg(grub_boot_id, true);
    EXPECT_NE(own.find("\nblscfg\n"), std::string::npos);
    EXPECT_EQ(own.find("loader/grub.cfg"), std::string::npos);
    const std::string generated = boot_grub_cfg(grub_boot_id, false);
    EXPECT_EQ(generated.find("\nblscfg\n"), std::string::npos);
    EXPECT_NE(generated.find("source ($boot)/loader/grub.cfg"), std::string::npos);
    EXPECT_NE(generated.find("\n  linux \"$@\"\n"), std::string::npos);
}

TEST(Grub, CountsBootsBehindTheEntriesWhichMaySetTheDefault) {
    const std::string text = boot_grub_cfg(grub_boot_id, false);
    const std::size_t entries = text.find("loader/grub.cfg");
    const std::size_t counting = text.find("set default=1");
    ASSERT_NE(entries, std::string::npos);
    ASSERT_NE(counting, std::string::npos);
    EXPECT_LT(entries, counting);
    EXPECT_NE(text.find("\"$boot_counter\" = \"3\" ]; then\n    set boot_counter=2\n"),
              std::string::npos);
    EXPECT_NE(text.find("\"$boot_counter\" = \"1\" ]; then\n    set boot_counter=0\n"),
              std::string::npos);
    EXPECT_EQ(text.find('@'), text.find("@\"")) << "a value that was not filled in";
}

TEST(Grub, EnvironmentHasTheSizeThatGrubRewrites) {
    const std::string text = grub_environment();
    EXPECT_EQ(text.size(), 1024U);
    EXPECT_TRUE(text.starts_with("# GRUB Environment Block\nboot_success=0\n#"));
    const test::CommitFixture fixture;
    const std::filesystem::path file = fixture.directory() / "grubenv";
    write_file(file, text);
    int status = 0;
    EXPECT_EQ(test::output_of("grub-editenv " + file.string() + " list", &status),
              "boot_success=0\n");
}

TEST(Grub, FirstMenuTakesHostileTitlesAndArgumentsLiterally) {
    GrubEntry entry;
    entry.title = "it's; reboot {";
    entry.linux = "/ostree/lab-1/vmlinuz-6";
    entry.initrd = "/ostree/lab-1/initramfs-6.img";
    entry.arguments = {"root=UUID=x", "a=$b;reboot", R"(c="d e; f")", "quiet"};
    const std::string text = loader_grub_cfg(entry, grub_boot_id);
    EXPECT_EQ(grub_says(text), "");
    EXPECT_NE(text.find("menuentry 'it'\\''s; reboot {' "), std::string::npos) << text;
    EXPECT_NE(text.find("\nlinux /ostree/lab-1/vmlinuz-6 root=UUID=x 'a=$b;reboot' 'c=d e; f' "
                        "quiet\ninitrd /ostree/lab-1/initramfs-6.img\n}\n"),
              std::string::npos)
        << text;
}

TEST(Grub, FirstMenuWithoutInitramfsHasNoInitrd) {
    EXPECT_EQ(loader_grub_cfg({"t", "/k", "", {}}, grub_boot_id).find("initrd"), std::string::npos);
}

}  // namespace
}  // namespace edgegpu
