#include "image_file/disk_format.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "image_file/cloud_check.hpp"
#include "support/commit_fixture.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

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
    for (const ImageType type : {ImageType::qcow2, ImageType::vmdk, ImageType::vhd}) {
        const DiskFixture fixture;
        const fs::path one = fixture.directory() / "one/disk";
        const fs::path two = fixture.directory() / "two/disk";
        make_directories(one.parent_path());
        make_directories(two.parent_path());
        convert_disk(fixture.ctx(), fixture.raw, type, "commit", 1700000000, one);
        int status = 0;
        (void)test::output_of("sleep 1.1", &status);
        convert_disk(fixture.ctx(), fixture.raw, type, "commit", 1700000000, two);
        EXPECT_EQ(sha256_file(one), sha256_file(two)) << enum_name(type);
        const std::string format = type == ImageType::vhd ? "vpc" : std::string(enum_name(type));
        EXPECT_EQ(test::output_of("qemu-img compare -f raw -F " + format + ' ' +
                                      fixture.raw.string() + ' ' + one.string(),
                                  &status),
                  "Images are identical.\n");
        EXPECT_EQ(status, 0) << enum_name(type);
    }
}

TEST(DiskFormat, AVhdIsOfFixedSizeWithARightChecksum) {
    const DiskFixture fixture;
    const fs::path vhd = fixture.directory() / "disk.vhd";
    convert_disk(fixture.ctx(), fixture.raw, ImageType::vhd, "commit", 1700000000, vhd);
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
        convert_disk(fixture.ctx(), fixture.directory() / "absent", ImageType::qcow2, "c", 0,
                     fixture.directory() / "out");
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
