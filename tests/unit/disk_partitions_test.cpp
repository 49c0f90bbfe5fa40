#include "disk/partitions.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

DiskNeeds both_firmwares() {
    DiskNeeds needs;
    needs.bios = true;
    needs.esp = 128 * mib;
    needs.boot = 512 * mib + 1;
    needs.root_least = 900 * mib - 5;
    needs.root_usual = 3000 * mib;
    return needs;
}

std::string too_small(const DiskNeeds& needs, std::uint64_t size) {
    try {
        (void)plan_partitions(needs, DiskIdentity("commit", {}), size);
    } catch (const Error& caught) {
        EXPECT_EQ(caught.kind(), ErrorKind::usage);
        return caught.message() + " | " + caught.hint();
    }
    return "no error";
}

TEST(Partitions, LieOneAfterAnotherAtWholeMebibytes) {
    const std::vector<Partition> partitions =
        plan_partitions(both_firmwares(), DiskIdentity("commit", {}), 0);
    ASSERT_EQ(partitions.size(), 4U);
    std::uint64_t expected = mib;
    for (const Partition& partition : partitions) {
        EXPECT_EQ(partition.offset, expected) << partition.name;
        EXPECT_EQ(partition.size % mib, 0U) << partition.name;
        expected += partition.size;
    }
    EXPECT_EQ(partitions[2].size, 513 * mib);
    EXPECT_EQ(partitions[0].file_system_uuid, "");
    EXPECT_EQ(partitions[1].file_system_uuid.size(), 9U);
    EXPECT_EQ(disk_size(partitions), expected + mib);
    EXPECT_EQ(disk_size(partitions) % (1024 * mib), 0U);
    EXPECT_EQ(find_partition(partitions, "swap"), nullptr);
    EXPECT_EQ(find_partition(partitions, "root"), &partitions.back());
}

TEST(Partitions, ADiskOfNoGivenSizeHasTheLeastSize) {
    DiskNeeds needs = both_firmwares();
    needs.disk_least = 20ULL * 1024 * mib + 1;
    EXPECT_EQ(disk_size(plan_partitions(needs, DiskIdentity("commit", {}), 0)), 21ULL * 1024 * mib);
    EXPECT_EQ(disk_size(plan_partitions(needs, DiskIdentity("commit", {}), 4096ULL * mib)),
              4096ULL * mib);
    DiskRequest larger;
    larger.least.boot = 1;
    EXPECT_NE(DiskIdentity("commit", {}).uuid("disk"), DiskIdentity("commit", larger).uuid("disk"));
}

TEST(Partitions, OnlyThoseThatTheImageHasBootLoadersFor) {
    DiskNeeds needs = both_firmwares();
    needs.bios = false;
    needs.esp = 0;
    const std::vector<Partition> partitions =
        plan_partitions(needs, DiskIdentity("commit", {}), 2048 * mib + 77);
    ASSERT_EQ(partitions.size(), 2U);
    EXPECT_EQ(partitions[0].name, "boot");
    EXPECT_EQ(disk_size(partitions), 2048 * mib);
}

TEST(Partitions, ADiskTooSmallIsAnErrorThatNamesTheLeastSizeWhichIsEnough) {
    // 1 MiB each before and behind, 1 for the BIOS, 128, 513, 900.
    EXPECT_EQ(too_small(both_firmwares(), 1544 * mib - 1),
              "a disk of 1544 MiB is too small for this image: it needs 1544 MiB | --size 1544M is "
              "the least; leave it out for a disk that has room for an update");
    EXPECT_EQ(too_small(both_firmwares(), 1),
              "a disk of 1 MiB is too small for this image: it "
              "needs 1544 MiB | --size 1544M is the least; leave "
              "it out for a disk that has room for an update");
    EXPECT_EQ(too_small(both_firmwares(), 1544 * mib), "no error");
}

TEST(Partitions, TheSmallestDiskIsAsLargeAsTheError) {
    const DiskIdentity identity("commit", {});
    EXPECT_EQ(disk_size(plan_partitions(both_firmwares(), identity, smallest_size)), 1544 * mib);
}

TEST(Partitions, AreInTheTableThatSfdiskWrites) {
    const test::CommitFixture fixture;
    const std::filesystem::path disk = fixture.directory() / "disk";
    const DiskIdentity identity("commit", {});
    const std::vector<Partition> partitions = plan_partitions(both_firmwares(), identity, 0);
    int status = 0;
    (void)test::output_of(
        "truncate -s " + std::to_string(disk_size(partitions)) + " " + disk.string(), &status);
    ASSERT_EQ(status, 0);
    write_partition_table(fixture.ctx(), disk, partitions, identity);
    // How sfdisk ends these lines, and whether it names the disk first, depends on its version.
    const std::string verified =
        test::output_of("/usr/sbin/sfdisk --verify " + disk.string(), &status);
    EXPECT_EQ(status, 0);
    EXPECT_NE(verified.find("No errors detected.\nHeader version: 1.0\n"
                            "Using 4 out of 128 partitions.\n"
                            "A total of 0 free sectors is available in 0 segments"),
              std::string::npos)
        << verified;
    const std::string dump = test::output_of("/usr/sbin/sfdisk --dump " + disk.string(), &status);
    EXPECT_NE(dump.find("type=4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"), std::string::npos) << dump;
    EXPECT_NE(dump.find("type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B"), std::string::npos) << dump;
    EXPECT_NE(dump.find("type=21686148-6449-6E6F-744E-656564454649"), std::string::npos) << dump;
}

}  // namespace
}  // namespace edgegpu
