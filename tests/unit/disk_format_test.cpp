#include "image_file/disk_format.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "image_file/cloud_check.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A disk of 16 MiB with something at both ends.
class DiskFixture : public test::CommitFixture {
public:
    DiskFixture() : raw(directory() / "disk.raw") {
        write_file(raw, std::string(100000, 'x'));
        fs::resize_file(raw, (16U << 20U) - 3);
        write_file(directory() / "end", "end");
        int status = 0;
        (void)test::output_of("cat " + (directory() / "end").string() + " >> " + raw.string(),
                              &status);
    }
    fs::path raw;
};

TEST(DiskFormat, EachFormHasTheSameDiskAndTheSameBytesEachTime) {
    const DiskFixture fixture;
    constexpr std::array forms{std::pair{ImageType::qcow2, false},
                               std::pair{ImageType::qcow2, true}, std::pair{ImageType::vmdk, false},
                               std::pair{ImageType::vhd, false}};
    const auto make = [&](const std::pair<ImageType, bool>& form, const char* name) {
        fs::path disk = fixture.directory() / name / enum_name(form.first);
        disk += form.second ? "-clusters" : "";
        make_directories(disk.parent_path());
        convert_disk(fixture.ctx(), fixture.raw, {form.first, form.second, "commit", 1700000000},
                     disk);
        return disk;
    };
    std::vector<fs::path> first;
    first.reserve(forms.size());
    for (const auto& form : forms) {
        first.push_back(make(form, "one"));
    }
    test::wait_for_another_time(1);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const ImageType type = forms.at(i).first;
        const fs::path& one = first.at(i);
        EXPECT_EQ(sha256_file(one), sha256_file(make(forms.at(i), "two"))) << enum_name(type);
        int status = 0;
        const std::string format = type == ImageType::vhd ? "vpc" : std::string(enum_name(type));
        EXPECT_EQ(test::output_of("qemu-img compare -f raw -F " + format + ' ' +
                                      fixture.raw.string() + ' ' + one.string(),
                                  &status),
                  "Images are identical.\n");
        EXPECT_EQ(status, 0) << enum_name(type);
    }
}

TEST(DiskFormat, ContentIdentifiersOfAnyLengthGiveTheSameVmdk) {
    const auto descriptor = [](const std::string& id, const std::string& left_behind = "") {
        std::string text = "# Disk DescriptorFile\nversion=1\nCID=";
        text += id + "\nparentCID=ffffffff\n" + std::string(1, '\0') + left_behind;
        text.resize(512, '\0');
        return text;
    };
    const std::string expected = descriptor("0badcafe");
    EXPECT_EQ(vmdk_descriptor(descriptor("12345678"), "0badcafe"), expected);
    EXPECT_EQ(vmdk_descriptor(descriptor("1234567"), "0badcafe"), expected);
    EXPECT_EQ(vmdk_descriptor(descriptor("0"), "0badcafe"), expected);
    EXPECT_EQ(vmdk_descriptor(descriptor("123456", "\n"), "0badcafe"), expected);
    for (const std::string& bad : {descriptor(""), descriptor("123456789"), std::string(512, '\0'),
                                   std::string("x\nCID=1"), std::string()}) {
        EXPECT_THROW((void)vmdk_descriptor(bad, "0badcafe"), Error) << bad;
    }
    // No room for a longer one.
    EXPECT_THROW((void)vmdk_descriptor("x\nCID=1\n", "0badcafe"), Error);
}

TEST(DiskFormat, AVhdIsOfFixedSizeWithARightChecksum) {
    const DiskFixture fixture;
    const fs::path vhd = fixture.directory() / "disk.vhd";
    convert_disk(fixture.ctx(), fixture.raw, {ImageType::vhd, false, "commit", 1700000000}, vhd);
    const std::string content = read_file(vhd);
    ASSERT_EQ(content.size(), (16U << 20U) + 512);
    const std::string footer = content.substr(content.size() - 512);
    std::uint32_t sum = 0;
    std::uint32_t recorded = 0;
    for (std::size_t i = 0; i < footer.size(); ++i) {
        const auto byte = static_cast<unsigned char>(footer[i]);
        if (i >= 64 && i < 68) {
            recorded = recorded << 8U | byte;
        } else {
            sum += byte;
        }
    }
    EXPECT_EQ(recorded, ~sum);
}

TEST(DiskFormat, CompressedClustersAreThoseOfEveryQemu) {
    const DiskFixture fixture;
    const fs::path plain = fixture.directory() / "plain";
    const fs::path compressed = fixture.directory() / "compressed";
    convert_disk(fixture.ctx(), fixture.raw, {ImageType::qcow2, false, "c", 0}, plain);
    convert_disk(fixture.ctx(), fixture.raw, {ImageType::qcow2, true, "c", 0}, compressed);
    EXPECT_LT(fs::file_size(compressed) + 65536, fs::file_size(plain));
    // No incompatible feature, of which one is another method of compression.
    EXPECT_EQ(read_file(compressed).substr(72, 8), std::string(8, '\0'));
}

TEST(DiskFormat, ZstdGivesTheSameBytesEachTime) {
    const DiskFixture fixture;
    compress_disk(fixture.ctx(), fixture.raw, fixture.directory() / "one");
    compress_disk(fixture.ctx(), fixture.raw, fixture.directory() / "two");
    EXPECT_EQ(sha256_file(fixture.directory() / "one"), sha256_file(fixture.directory() / "two"));
    EXPECT_LT(fs::file_size(fixture.directory() / "one"), 10000U);
}

TEST(DiskFormat, AFailureNamesTheProgramAndTheFile) {
    const DiskFixture fixture;
    try {
        convert_disk(fixture.ctx(), fixture.directory() / "absent",
                     {ImageType::qcow2, false, "c", 0}, fixture.directory() / "out");
        FAIL() << "no error";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("qemu-img failed"), std::string::npos) << caught.message();
    }
}

TEST(CloudCheck, LooksBehindTheMicrocode) {
    const test::CommitFixture fixture;
    int status = 0;
    const std::string shell =
        "cd " + fixture.directory().string() +
        " && mkdir -p early/kernel late/lib && echo m > early/kernel/microcode && echo n > "
        "late/lib/nvme.ko && (cd early && find . | cpio -o -H newc --quiet) > both && "
        "(cd late && find . | cpio -o -H newc --quiet | gzip -n) >> both";
    (void)test::output_of(shell, &status);
    ASSERT_EQ(status, 0);
    const std::string both = read_file(fixture.directory() / "both");
    EXPECT_TRUE(initramfs_contains(both, "/nvme.ko"));
    EXPECT_TRUE(initramfs_contains(both, "kernel/microcode"));
    EXPECT_FALSE(initramfs_contains(both, "/ena.ko"));
    EXPECT_FALSE(initramfs_contains("", "x"));
    EXPECT_FALSE(initramfs_contains(both.substr(0, both.size() - 40), "/ena.ko"));
}

}  // namespace
}  // namespace edgegpu
