#include "disk/first_boot.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk/disk.hpp"
#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The script of edgegpu-volume-groups.service with stand-ins for vgs and vgcreate, as the real
/// ones need block devices: e2e/upgrade_test and install_test have those. A "partition" is a file
/// with the name of its volume group, or with what vgcreate would ask about.
class VolumeGroupScript : public testing::Test {
protected:
    VolumeGroupScript() {
        const DiskIdentity identity("commit", {});
        const Injection files =
            volume_group_files({{1, "", {}, "one"}, {1, "", {}, "two"}}, identity);
        for (const Injected& file : files) {
            if (file.path == "/etc/edgegpu/volume-groups") {
                put("script", file.content);
            }
        }
        fs::create_directory(directory / "bin");
        put("bin/vgs",
            "#!/bin/sh\n"
            "[ \"$4\" = --select ] || exit 3\n"
            "device=${5#pv_name=}\n"
            "grep -qx 'VG .*' \"$device\" || exit 0\n"
            "sed 's/VG /  /' \"$device\"\n");
        put("bin/vgcreate",
            "#!/bin/sh\n"
            "if [ -s \"$2\" ]; then\n"
            "    echo 'WARNING: signature detected. Wipe it? [y/n]: [n]'\n"
            "    read answer || answer=n\n"
            "    [ \"$answer\" = y ] || { echo '  Aborted wiping.'; exit 5; }\n"
            "fi\n"
            "echo \"VG $1\" >\"$2\"\n");
        put("bin/restorecon", "#!/bin/sh\n[ \"$*\" = '-R /etc/lvm' ] && echo labels\n");
        put("list", "uuid-1 one\nuuid-2 two\n");
        put("partition-2", "");
        fs::create_directory(directory / "by-partuuid");
        for (const char* number : {"1", "2"}) {
            fs::create_symlink(directory / fmt::format("partition-{}", number),
                               directory / "by-partuuid" / fmt::format("uuid-{}", number));
        }
    }

    void put(const std::string& name, const std::string& content) const {
        write_file(directory / name, content);
        fs::permissions(directory / name, fs::perms::owner_all);
    }
    [[nodiscard]] std::string run() {
        return test::output_of(
            fmt::format("PATH='{0}/bin:'$PATH EDGEGPU_VOLUME_GROUPS='{0}/list' "
                        "EDGEGPU_PARTITIONS='{0}/by-partuuid' sh '{0}/script' 2>&1",
                        directory.string()),
            &status);
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        return read_file(directory / name);
    }

    test::TemporaryDirectory temporary;
    const fs::path directory = temporary.path();
    int status = -1;
};

TEST_F(VolumeGroupScript, MakesGroupsOnce) {
    put("partition-1", "");
    EXPECT_THAT(run(), HasSubstr("volume group one: making it on "));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content("partition-1"), "VG one\n");
    EXPECT_EQ(content("partition-2"), "VG two\n");
    EXPECT_EQ(run(), "labels\n");
    EXPECT_EQ(status, 0);
}

TEST_F(VolumeGroupScript, KeepsWhatIsThere) {
    put("partition-1", "VG other\n");
    EXPECT_THAT(run(), HasSubstr("has the volume group other, which stays\n"));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content("partition-1"), "VG other\n");
}

TEST_F(VolumeGroupScript, NeverOverwritesOtherData) {
    put("partition-1", "data\n");
    EXPECT_THAT(run(), HasSubstr("volume group one: it cannot be made; the next boot tries again"));
    EXPECT_NE(status, 0);
    EXPECT_EQ(content("partition-1"), "data\n");
    EXPECT_EQ(content("partition-2"), "VG two\n") << "the others are made all the same";
}

TEST_F(VolumeGroupScript, SaysThatAPartitionIsMissing) {
    EXPECT_THAT(run(), HasSubstr("volume group one: there is no partition uuid-1\n"));
    EXPECT_NE(status, 0);
    EXPECT_EQ(content("partition-2"), "VG two\n");
}

}  // namespace
}  // namespace edgegpu
