#include "kmods/package.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose/rpmdb.hpp"
#include "compose_fixture.hpp"
#include "rootfs/order.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;
using testing::ElementsAre;

MadePackage example() {
    MadePackage package;
    package.nevra = {"kmod-nvidia-open-535.1-6.1.0-47", 3, "535.1", "1.el12", "x86_64"};
    package.summary = "NVIDIA kernel modules";
    package.license = "Dual MIT/GPL";
    package.build_time = 1700000000;
    package.provides = {{"kernel-modules", "6.1.0-47.el12.x86_64"}, {"nvidia-kmod", "3:535.1"}};
    package.files = {{"/usr/lib/modules/6.1.0-47/extra/nvidia.ko", std::string(100001, 'n')},
                     {"/usr/lib/modules/6.1.0-47/extra/nvidia-drm.ko", "drm"},
                     {"/usr/share/edgegpu/secure-boot/edge.der", std::string("\0\1\2", 3)}};
    return package;
}

class ModulePackage : public testing::Test, protected ComposeFixture {
protected:
    /// The package as the fetch stage would hand it on.
    PackageFile write(const MadePackage& package) {
        const std::string rpm = make_rpm(package);
        PackageFile file;
        file.path = directory.path() / "made.rpm";
        write_file(file.path, rpm);
        file.package.nevra = package.nevra;
        file.sha256 = sha256_hex(rpm);
        file.package.checksum = {ChecksumAlgorithm::sha256, file.sha256};
        file.package.size = rpm.size();
        file.content = std::make_shared<const PackageContent>(file.path);
        return file;
    }
};

TEST_F(ModulePackage, IsUnpackedAsAnyOther) {
    const MadePackage package = example();
    const ImportedPackage imported = import_package(context, write(package));
    ASSERT_EQ(imported.files.size(), package.files.size());
    for (const ImportedFile& file : imported.files) {
        EXPECT_EQ(file.entry.mode, 0644U);
        EXPECT_EQ(file.user, "root");
        EXPECT_EQ(read_file(file.entry.content), package.files.at(file.path)) << file.path;
    }
    EXPECT_THAT(header_strings(imported.header.get(), RPMTAG_PROVIDENAME),
                ElementsAre("kmod-nvidia-open-535.1-6.1.0-47", "kernel-modules", "nvidia-kmod"));
    EXPECT_THAT(header_strings(imported.header.get(), RPMTAG_PROVIDEVERSION),
                ElementsAre("3:535.1-1.el12", "6.1.0-47.el12.x86_64", "3:535.1"));
}

TEST_F(ModulePackage, SatisfiesRpmItself) {
    const PackageFile file = write(example());
    test::run({"sh", "-c",
               "set -e; test \"$(rpm -qp --qf '%{NEVRA} %{LICENSE} %{BUILDTIME}' " +
                   file.path.string() +
                   ")\" = 'kmod-nvidia-open-535.1-6.1.0-47-3:535.1-1.el12.x86_64 Dual MIT/GPL "
                   "1700000000'; rpm -qp --provides " +
                   file.path.string() + " | grep -qx 'nvidia-kmod = 3:535.1'; rpm2cpio " +
                   file.path.string() +
                   " | cpio -t --quiet | grep -qx ./usr/share/edgegpu/secure-boot/edge.der"});
}

TEST_F(ModulePackage, HasARowInTheDatabase) {
    std::vector<ImportedPackage> packages;
    packages.push_back(import_package(context, write(example())));
    packages = order_packages(std::move(packages));
    const auto scratch = directory.path() / "db";
    make_directories(scratch);
    const auto database = write_rpmdb(context, packages, scratch);
    test::run({"sh", "-c",
               "test \"$(rpm --define '_db_backend sqlite' --dbpath " +
                   database.directory.string() +
                   " -q --whatprovides nvidia-kmod)\" = "
                   "kmod-nvidia-open-535.1-6.1.0-47-535.1-1.el12.x86_64"});
}

TEST_F(ModulePackage, IsTheSameForTheSameValue) {
    EXPECT_EQ(make_rpm(example()), make_rpm(example()));
    MadePackage other = example();
    other.build_time += 1;
    EXPECT_NE(make_rpm(example()), make_rpm(other));
    other.files.clear();
    EXPECT_EQ(error_message([&] { static_cast<void>(make_rpm(other)); }),
              "kmod-nvidia-open-535.1-6.1.0-47-3:535.1-1.el12.x86_64: a package without files");
}

}  // namespace
}  // namespace edgegpu
