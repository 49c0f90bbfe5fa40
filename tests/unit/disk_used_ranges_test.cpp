#include "disk/used_ranges.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "disk/ext4/ext4.hpp"
#include "disk/luks.hpp"
#include "log/console.hpp"
#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t range_mib = 1U << 20U;
constexpr std::uint64_t range_root = 64 * range_mib;

bool has_content(const std::string& disk, std::uint64_t at) {
    return std::string_view(disk).substr(at, 4096).find_first_not_of('\0') !=
           std::string_view::npos;
}

class UsedRangesTest : public ::testing::Test {
protected:
    UsedRangesTest() {
        std::string name = (fs::temp_directory_path() / "ranges-XXXXXX").string();
        directory = ::mkdtemp(name.data());
        ctx.console = &console;
    }
    ~UsedRangesTest() override { fs::remove_all(directory); }

    /// A disk with an EFI system partition of 2 MiB, which is all zeros, and a root file system
    /// with one file: a page of zeros, a page of 'x'.
    [[nodiscard]] Disk write_small_disk(const fs::path& path) const {
        Disk disk;
        disk.size = range_root + 4 * range_mib;
        disk.partitions = {{"esp", range_mib, 2 * range_mib, 2 * range_mib, "", "", ""},
                           {"root", 3 * range_mib, range_root, range_root, "", "", ""}};
        std::ofstream(path).close();
        fs::resize_file(path, disk.size);
        Ext4Format format;
        format.offset = 3 * range_mib;
        format.size = range_root;
        format.uuid = format.hash_seed = "12345678-9abc-8def-8123-456789abcdef";
        format.label = "root";
        format.time = 1'700'000'000;
        Ext4Writer writer(ctx, path, format);
        const std::string content = std::string(4096, '\0') + std::string(4096, 'x');
        std::size_t at = 0;
        writer.add_file(writer.root(), "file", content.size(),
                        [&](char* buffer, std::size_t size) {
                            const std::size_t count = content.copy(buffer, size, at);
                            at += count;
                            return count;
                        },
                        {});
        writer.finish();
        return disk;
    }

    static int status_of(const std::string& command) {
        int status = -1;
        const std::string output = test::output_of(command, &status);
        EXPECT_EQ(status, 0) << output;
        return status;
    }

    fs::path directory;
    Console console{Color::never, true};
    Context ctx;
};

TEST_F(UsedRangesTest, AreAllThatADiskWithOtherContentHasToGet) {
    const fs::path path = directory / "disk";
    const Disk disk = write_small_disk(path);
    const std::vector<ByteRange> ranges = used_ranges(path, disk);
    std::ifstream source(path, std::ios::binary);
    std::string target(disk.size, '\xa5');
    std::uint64_t end = 0;
    std::uint64_t copied = 0;
    for (const ByteRange& range : ranges) {
        EXPECT_EQ(range.offset % 4096, 0U);
        EXPECT_EQ(range.size % 4096, 0U);
        EXPECT_TRUE(range.offset > end || range.offset == 0) << range.offset;
        end = range.offset + range.size;
        ASSERT_LE(end, disk.size);
        source.seekg(static_cast<std::streamoff>(range.offset));
        source.read(target.data() + range.offset, static_cast<std::streamsize>(range.size));
        copied += range.size;
    }
    // Partition tables at both ends, and the EFI system partition with its zeros.
    EXPECT_EQ(target.substr(0, 3 * range_mib), std::string(3 * range_mib, '\0'));
    EXPECT_EQ(end, disk.size);
    EXPECT_LT(copied, disk.size / 2);
    std::ofstream(directory / "alone", std::ios::binary)
        << std::string_view(target).substr(3 * range_mib, range_root);
    const std::string alone = (directory / "alone").string();
    status_of(fmt::format("PATH=$PATH:/usr/sbin e2fsck -fn {} 2>&1", alone));
    status_of(fmt::format("PATH=$PATH:/usr/sbin debugfs -R 'dump /file {0}.file' {0} 2>&1", alone));
    std::ifstream file(alone + ".file", std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(content == std::string(4096, '\0') + std::string(4096, 'x'));
}

TEST_F(UsedRangesTest, OfAVolumeGroupAreZerosInFrontOfWhatAnEarlierSystemLeft) {
    const fs::path path = directory / "disk";
    Disk disk = write_small_disk(path);
    Partition group{
        "volume group site", 67 * range_mib, 50 * range_mib, 50 * range_mib, "", "", ""};
    group.use = VolumeUse::group;
    disk.partitions.push_back(group);
    disk.size += 50 * range_mib;
    fs::resize_file(path, disk.size);
    const std::vector<ByteRange> ranges = used_ranges(path, disk);
    const auto holds = [&](std::uint64_t place) {
        return std::ranges::any_of(ranges, [&](const ByteRange& range) {
            return place >= range.offset && place < range.offset + range.size;
        });
    };
    EXPECT_TRUE(holds(group.offset) && holds(group.offset + range_mib - 1));
    EXPECT_FALSE(holds(group.offset + range_mib));
}

TEST_F(UsedRangesTest, OfAnEncryptedPartitionAreItsHeaderAndWhatItsFileSystemUses) {
    const fs::path path = directory / "disk";
    Disk disk = write_small_disk(path);
    // The file system with its header in front of it.
    const std::string file_system = read_file(path).substr(3 * range_mib, range_root);
    disk.partitions.back().size += luks_header_size;
    disk.partitions.back().luks_uuid = "d9d1e345-9100-863e-a8df-7e85cffab13f";
    disk.size += luks_header_size;
    Ext4Format format;
    format.offset = 3 * range_mib + luks_header_size;
    format.size = range_root;
    std::ofstream(path).close();
    fs::resize_file(path, disk.size);
    std::fstream written(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uint64_t at = 0; at < file_system.size(); at += 4096) {
        if (has_content(file_system, at)) {
            written.seekp(static_cast<std::streamoff>(format.offset + at));
            written.write(file_system.data() + at, 4096);
        }
    }
    written.close();
    encrypt_ext4(ctx, path, format, disk.partitions.back().luks_uuid);

    const std::string source = read_file(path);
    std::string target(disk.size, '\xa5');
    std::uint64_t copied = 0;
    for (const ByteRange& range : used_ranges(path, disk)) {
        target.replace(range.offset, range.size, source, range.offset, range.size);
        copied += range.size;
    }
    EXPECT_LT(copied, disk.size / 2 + luks_header_size);
    const std::uint64_t header = 3 * range_mib;
    EXPECT_TRUE(target.substr(header, luks_header_size) == source.substr(header, luks_header_size));
    std::size_t encrypted = 0;
    for (std::uint64_t at = format.offset; at < disk.size; at += 4096) {
        if (has_content(source, at)) {
            ++encrypted;
            ASSERT_EQ(target.compare(at, 4096, source, at, 4096), 0) << at;
        }
    }
    EXPECT_GT(encrypted, 10U);
    const fs::path partition = directory / "partition";
    write_file(partition, target.substr(header));
    write_file(directory / "passphrase", "");
    status_of(
        fmt::format("PATH=$PATH:/usr/sbin:/sbin cryptsetup open --test-passphrase --key-file "
                    "{} {} 2>&1",
                    (directory / "passphrase").string(), partition.string()));
}

TEST_F(UsedRangesTest, DoNotChangeTheDisk) {
    const fs::path path = directory / "disk";
    const Disk disk = write_small_disk(path);
    const std::string before = test::output_of(fmt::format("sha256sum {}", path.string()));
    EXPECT_EQ(used_ranges(path, disk), used_ranges(path, disk));
    EXPECT_EQ(test::output_of(fmt::format("sha256sum {}", path.string())), before);
}

}  // namespace
}  // namespace edgegpu
