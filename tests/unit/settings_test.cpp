#include "installer/settings.hpp"

#include <map>
#include <string>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

Disk disk_with_root() {
    Disk disk;
    disk.size = 4ULL << 30U;
    disk.commit = std::string(64, 'c');
    disk.stateroot = "lab";
    disk.partitions = {{"boot", 1 << 20, 1 << 20, 1 << 20, "", "", ""},
                       {"root", 2 << 20, 3 << 20, 3 << 20, "", "", ""}};
    return disk;
}

/// What an archive has: path → mode and content.
std::map<std::string, std::pair<unsigned, std::string>> unpacked(const std::string& cpio) {
    const Handle<archive, archive_read_free> reader(archive_read_new());
    archive_read_support_format_cpio(reader.get());
    EXPECT_EQ(archive_read_open_memory(reader.get(), cpio.data(), cpio.size()), ARCHIVE_OK);
    std::map<std::string, std::pair<unsigned, std::string>> files;
    archive_entry* entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        std::string content(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
        EXPECT_EQ(archive_read_data(reader.get(), content.data(), content.size()),
                  static_cast<la_ssize_t>(content.size()));
        EXPECT_EQ(archive_entry_mtime(entry), 0);
        files[archive_entry_pathname(entry)] = {archive_entry_mode(entry), content};
    }
    return files;
}

TEST(InstallerSettingsTest, SayWhereTheImageIs) {
    InstallerSettings settings;
    settings.title = "edge 1.0";
    settings.label = "EDGEGPU_1";
    settings.disk_file = "edgegpu/disk.raw";
    settings.remote = "edge";
    settings.digest = std::string(64, 'd');
    const auto files = installer_files(settings, disk_with_root(), parse_target_rule("any"));
    EXPECT_EQ(files.at("edgegpu/rule"), "removable = no\n");
    const std::string& text = files.at("edgegpu/settings");
    EXPECT_NE(text.find("DISK_SIZE='4294967296'\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ROOT_OFFSET='2097152'\nROOT_SIZE='3145728'\n"), std::string::npos) << text;
    EXPECT_NE(text.find("DEPLOYMENT='ostree/deploy/lab/deploy/" + std::string(64, 'c') + ".0'\n"),
              std::string::npos)
        << text;
}

TEST(InstallerSettingsTest, AMediumHasADiskInPieces) {
    constexpr std::uint64_t mebibyte = 1U << 20U;
    Disk disk = disk_with_root();
    disk.partitions = {{"boot", mebibyte, 10 * mebibyte, 10 * mebibyte, "", "", ""},
                       {"/var", 11 * mebibyte, 500 * mebibyte, 128 * mebibyte, "", "", ""},
                       {"swap", 511 * mebibyte, 64 * mebibyte, mebibyte, "", "", ""},
                       {"root", 575 * mebibyte, 900 * mebibyte, 900 * mebibyte, "", "", ""}};
    InstallerSettings settings;
    settings.volumes = {{500 * mebibyte, "", {{"/var", ""}}, {}}, {64 * mebibyte, "", {}, {}}};
    const auto files = installer_files(settings, disk, parse_target_rule("any"));
    EXPECT_EQ(files.at("edgegpu/pieces"),
              "1048576 1048576 10485760 \n"
              "11534336 11534336 134217728 edgegpu /var\n"
              "145752064 535822336 1048576 edgegpu swap\n"
              "146800640 602931200 943718400 \n");
    EXPECT_EQ(files.at("edgegpu/volumes"),
              "11534336 524288000 edgegpu /var\n535822336 67108864 edgegpu swap\n");
    const std::string& text = files.at("edgegpu/settings");
    for (const char* line :
         {"ROOT_OFFSET='602931200'\nROOT_SIZE='943718400'\nROOT_ON_MEDIUM='146800640'\n",
          "END_ON_MEDIUM='1090519040'\n", "LOG_OFFSET='11534336'\nLOG_SIZE='134217728'\n",
          "LOG_PATH='/log'\n", "STATE_PATH='/lib/edgegpu'\n", "STATE_VOLUME='edgegpu /var'\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
}

TEST(InstallerSettingsTest, AValueCannotEndItsQuotes) {
    InstallerSettings settings;
    settings.title = "x'; reboot -f; '";
    const auto files = installer_files(settings, disk_with_root(), parse_target_rule("any"));
    EXPECT_NE(files.at("edgegpu/settings").find("NAME='x'\\''; reboot -f; '\\'''\n"),
              std::string::npos)
        << files.at("edgegpu/settings");
}

TEST(InstallerSettingsTest, ADiskWithoutRootIsAnError) {
    EXPECT_THROW((void)installer_files({}, Disk{}, parse_target_rule("any")), Error);
}

TEST(MakeCpioTest, HasTheFilesWithTheirDirectories) {
    const std::string cpio =
        make_cpio({{"edgegpu/install", {"#!/bin/bash\n", true}}, {"edgegpu/rule", {"", false}}});
    EXPECT_EQ(cpio.substr(0, 6), "070701");
    const auto files = unpacked(cpio);
    ASSERT_EQ(files.size(), 3U);
    EXPECT_EQ(files.at("edgegpu").first, 040755U);
    EXPECT_EQ(files.at("edgegpu/install").first, 0100755U);
    EXPECT_EQ(files.at("edgegpu/install").second, "#!/bin/bash\n");
    EXPECT_EQ(files.at("edgegpu/rule").first, 0100644U);
    EXPECT_EQ(
        make_cpio({{"edgegpu/install", {"#!/bin/bash\n", true}}, {"edgegpu/rule", {"", false}}}),
        cpio);
}

}  // namespace
}  // namespace edgegpu
