#include "disk/esp.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "disk/boot_loaders.hpp"
#include "disk/partitions.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

constexpr const char* esp_boot_id = "11111111-2222-8333-8444-555555555555";

/// A commit whose /usr/lib/ostree-boot/efi/EFI has the files.
class EspFixture : public test::CommitFixture {
public:
    EspFixture() {
        for (const char* path :
             {"/usr/lib/ostree-boot", "/usr/lib/ostree-boot/efi", "/usr/lib/ostree-boot/efi/EFI"}) {
            if (!tree.entries.contains(path)) {
                add_directory(path);
            }
        }
    }
    void add_efi(const std::string& path, std::string_view content) {
        const std::string top = "/usr/lib/ostree-boot/efi/EFI/";
        const std::string directory = top + path.substr(0, path.find('/'));
        if (!tree.entries.contains(directory)) {
            add_directory(directory);
        }
        add_file(top + path, content);
    }
    CommitView view() {
        const Commit commit = build();
        return RepositoryView(repo()).open(commit.checksum);
    }
};

std::string names_of(const EspFiles& files) {
    std::string names;
    for (const auto& [path, content] : files) {
        names += (names.empty() ? "" : " ") + path;
    }
    return names;
}

TEST(BootLoaders, AreFoundByWhatTheCommitHas) {
    EspFixture fixture;
    fixture.add_efi("redhat/shimx64.efi", "shim");
    fixture.add_efi("redhat/GRUBX64.EFI", "a GRUB with blscfg in it");
    fixture.add_efi("BOOT/BOOTX64.EFI", "shim");
    const BootLoaders found = find_boot_loaders(fixture.view());
    EXPECT_EQ(found.efi, "/usr/lib/ostree-boot/efi");
    EXPECT_EQ(found.grub_directories, std::vector<std::string>{"EFI/redhat"});
    EXPECT_EQ(found.bios_modules, "");
    EXPECT_TRUE(found.blscfg);
    EXPECT_EQ(found.firmware(), std::vector<Firmware>{Firmware::uefi});
}

TEST(BootLoaders, ReadEntriesThemselvesOnlyIfAllDo) {
    EspFixture fixture;
    fixture.add_efi("redhat/grubx64.efi", "blscfg");
    for (const char* directory : {"/usr/lib/grub", "/usr/lib/grub/i386-pc"}) {
        fixture.add_directory(directory);
    }
    fixture.add_file("/usr/lib/grub/i386-pc/kernel.img", "k");
    fixture.add_file("/usr/lib/grub/i386-pc/boot.img", "b");
    const BootLoaders found = find_boot_loaders(fixture.view());
    EXPECT_FALSE(found.blscfg);
    EXPECT_EQ(found.firmware().size(), 2U);
}

TEST(BootLoaders, NoneIsOneErrorThatNamesPackages) {
    EspFixture fixture;
    fixture.add_efi("BOOT/fbx64.efi", "no GRUB");
    try {
        (void)find_boot_loaders(fixture.view());
        FAIL() << "no error";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("has no boot loader"), std::string::npos);
        EXPECT_NE(caught.hint().find("grub2-efi-x64"), std::string::npos);
        EXPECT_NE(caught.hint().find("grub2-pc"), std::string::npos);
    }
}

TEST(Esp, HasThePackagesFilesAndAConfigurationBesideEachGrub) {
    EspFixture fixture;
    fixture.add_efi("redhat/shimx64.efi", "shim");
    fixture.add_efi("redhat/grubx64.efi", "grub");
    fixture.add_efi("redhat/grub.cfg", "the package's");
    fixture.add_efi("BOOT/BOOTX64.EFI", "fallback");
    const CommitView commit = fixture.view();
    const EspFiles files = esp_files(commit, find_boot_loaders(commit), esp_boot_id);
    EXPECT_EQ(names_of(files),
              "EFI/BOOT/BOOTX64.EFI EFI/redhat/grub.cfg EFI/redhat/grubx64.efi "
              "EFI/redhat/shimx64.efi");
    EXPECT_EQ(files.at("EFI/BOOT/BOOTX64.EFI"), "fallback");
    EXPECT_NE(files.at("EFI/redhat/grub.cfg").find(esp_boot_id), std::string::npos);
}

TEST(Esp, WithoutFallbackTheVendorsShimIsCopied) {
    EspFixture fixture;
    fixture.add_efi("redhat/shimx64.efi", "shim");
    fixture.add_efi("redhat/grubx64.efi", "grub");
    fixture.add_efi("redhat/mmx64.efi", "mm");
    const CommitView commit = fixture.view();
    const EspFiles files = esp_files(commit, find_boot_loaders(commit), esp_boot_id);
    EXPECT_EQ(files.at("EFI/BOOT/BOOTX64.EFI"), "shim");
    EXPECT_EQ(files.at("EFI/BOOT/grubx64.efi"), "grub");
    EXPECT_EQ(files.at("EFI/BOOT/mmx64.efi"), "mm");
}

TEST(Esp, NamesThatFatCannotHaveAreErrors) {
    for (const char* name : {"redhat/GRUB.cfg ", "redhat/a:b", "redhat/GrubX64.efi"}) {
        EspFixture fixture;
        fixture.add_efi("redhat/grubx64.efi", "grub");
        fixture.add_efi(name, "x");
        const CommitView commit = fixture.view();
        const BootLoaders loaders = find_boot_loaders(commit);
        EXPECT_THROW((void)esp_files(commit, loaders, esp_boot_id), Error) << name;
    }
}

TEST(Esp, IsTheSameFileSystemWheneverItIsMade) {
    const test::CommitFixture fixture;
    const std::filesystem::path disk = fixture.directory() / "disk";
    Partition esp;
    esp.name = "esp";
    esp.offset = 3 * mib;
    esp.size = 128 * mib;
    esp.file_system_uuid = "ABCD-1234";
    const EspFiles files{{"EFI/BOOT/BOOTX64.EFI", std::string(100000, 'b')},
                         {"EFI/redhat/grub.cfg", "configfile\n"}};
    const auto make = [&] {
        write_file(disk, "");
        std::filesystem::resize_file(disk, 300 * mib);
        write_esp(fixture.ctx(), disk, esp, files, 1700000000);
        return read_file(disk);
    };
    const std::string once = make();
    int status = 0;
    const std::string part = disk.string() + "@@" + std::to_string(esp.offset);
    EXPECT_EQ(test::output_of("mtype -i " + part + " ::/EFI/redhat/grub.cfg", &status),
              "configfile\n");
    EXPECT_NE(
        test::output_of("/usr/sbin/blkid -p -O " + std::to_string(esp.offset) + ' ' + disk.string(),
                        &status)
            .find("UUID=\"ABCD-1234\" VERSION=\"FAT32\""),
        std::string::npos);
    // FAT has times of two seconds.
    test::wait_for_another_time(2);
    EXPECT_TRUE(once == make());
    EXPECT_FALSE(std::filesystem::exists(disk.string() + ".esp"));
}

/// mtools takes "@@" in the name of a disk for an offset, and a backslash for a slash.
TEST(Esp, HasItsFilesWhateverTheNameOfTheDisk) {
    for (const char* name : {"a@@0.raw", "a\\b", "c:d", "-e?offset=0"}) {
        const test::CommitFixture fixture;
        const std::filesystem::path place = fixture.directory() / name;
        make_directories(place);
        const std::filesystem::path disk = place / name;
        Partition esp;
        esp.name = "esp";
        esp.size = 128 * mib;
        esp.file_system_uuid = "ABCD-1234";
        write_file(disk, "");
        std::filesystem::resize_file(disk, esp.size);
        write_esp(fixture.ctx(), disk, esp, {{"EFI/BOOT/BOOTX64.EFI", "boot\n"}}, 1700000000);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << name;
        const std::filesystem::path plain = fixture.directory() / "plain";
        std::filesystem::rename(disk, plain);
        int status = 0;
        EXPECT_EQ(
            test::output_of("mtype -i " + plain.string() + " ::/EFI/BOOT/BOOTX64.EFI", &status),
            "boot\n")
            << name;
    }
}

/// Two names that FAT does not tell apart, which esp_files refuses.
TEST(Esp, FilesThatAreNotThereAsTheyWereGivenAreAnError) {
    const test::CommitFixture fixture;
    const std::filesystem::path disk = fixture.directory() / "disk";
    Partition esp;
    esp.size = 128 * mib;
    esp.file_system_uuid = "ABCD-1234";
    write_file(disk, "");
    std::filesystem::resize_file(disk, esp.size);
    EXPECT_THROW(write_esp(fixture.ctx(), disk, esp, {{"grub.cfg", "one\n"}, {"GRUB.CFG", "two\n"}},
                           1700000000),
                 Error);
}

}  // namespace
}  // namespace edgegpu
