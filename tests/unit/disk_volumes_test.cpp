#include "disk/volumes.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk/first_boot.hpp"
#include "disk/identity.hpp"
#include "disk/partitions.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using testing::ElementsAre;
using testing::HasSubstr;

/// A commit with the directory /data, and a disk for volumes of it.
class Volumes : public testing::Test {
protected:
    Volumes() { fixture.add_directory("/data"); }

    [[nodiscard]] CommitView commit() {
        built = fixture.build();
        repository.emplace(fixture.repo());
        return repository->open(built.checksum);
    }
    [[nodiscard]] std::vector<Partition> partitions() const {
        DiskNeeds needs;
        needs.boot = 20 * mib;
        needs.root_least = needs.root_usual = 30 * mib;
        needs.volumes = request.volumes;
        return plan_partitions(needs, DiskIdentity("commit", request), request.size);
    }

    CommitFixture fixture;
    DiskRequest request;
    Commit built;
    std::optional<RepositoryView> repository;
};

const Volume var{2048 * mib, "", {{"/var", ""}}, {}};
const Volume logs{200 * mib, "", {{"/var/log", ""}}, {}};
const Volume parts{300 * mib, "p", {{"/var/home", "h"}, {"/data", "d"}}, {}};
const Volume swap_area{64 * mib, "", {}, {}};
const Volume group{500 * mib, "", {}, "site"};

TEST_F(Volumes, AreInFrontOfRootInTheirOrder) {
    request.volumes = {var, parts, swap_area};
    const std::vector<Partition> made = partitions();
    std::vector<std::string> names;
    names.reserve(made.size());
    for (const Partition& one : made) {
        names.push_back(one.name);
    }
    EXPECT_THAT(names, ElementsAre("boot", "/var", "/var/home", "swap", "root"));
    EXPECT_EQ(made[1].size, 2048 * mib);
    EXPECT_EQ(made[1].offset, made[0].offset + made[0].size);
    const std::string script = partition_script(made, DiskIdentity("commit", request));
    EXPECT_THAT(script, HasSubstr("type=0fc63daf-8483-4772-8e79-3d69d8477de4, uuid=" +
                                  made[1].uuid + ", name=\"edgegpu /var\"\n"));
    EXPECT_THAT(script, HasSubstr("type=0657fd6d-a4ab-43c4-84e5-0933c84b4f4f, uuid=" +
                                  made[3].uuid + ", name=\"edgegpu swap\"\n"));
}

TEST_F(Volumes, HaveNamesThatATableCanHave) {
    EXPECT_EQ(volume_label("/var/lib/microshift-storage1"), "edgegpu /var/lib/microshift-storage1");
    const std::string longer = volume_label("/var/lib/microshift-storage12");
    EXPECT_EQ(longer.size(), 24U);
    EXPECT_NE(longer, volume_label("/var/lib/microshift-storage13"));
}

TEST_F(Volumes, AreMountedByPartition) {
    request.volumes = {var, parts, swap_area};
    const std::vector<Partition> made = partitions();
    std::string text;
    for (const FstabLine& line : volume_fstab(request.volumes, made)) {
        text += line.text;
    }
    const std::string hidden = "/run/edgegpu/volumes/" + made[2].uuid;
    EXPECT_EQ(text, "PARTUUID=" + made[1].uuid + " /var ext4 defaults 0 2\n" + "PARTUUID=" +
                        made[2].uuid + " " + hidden + " ext4 defaults 0 2\n" + hidden +
                        "/h /var/home none bind 0 0\n" + hidden + "/d /data none bind 0 0\n" +
                        "PARTUUID=" + made[3].uuid + " none swap defaults 0 0\n");
}

TEST_F(Volumes, OfASmallestDiskGrowAtTheFirstBoot) {
    request.volumes = {var, swap_area};
    request.size = smallest_size;
    std::vector<Partition> made = partitions();
    EXPECT_THROW(shrink_volumes(request, commit(), made), Error) << "there is no systemd-growfs";
    fixture.add_directory("/usr/lib/systemd");
    fixture.add_file("/usr/lib/systemd/systemd-growfs", "x");
    request.injection = {{Injected::Type::file, "/var/a", std::string(3 * mib, 'x'), 0644, 0, 0}};
    shrink_volumes(request, commit(), made);
    EXPECT_EQ(made[1].content, 132 * mib);
    EXPECT_EQ(made[1].size, 2048 * mib);
    EXPECT_EQ(made[2].content, mib);
    EXPECT_EQ(volume_fstab(request.volumes, made)[0].text,
              "PARTUUID=" + made[1].uuid + " /var ext4 defaults,x-systemd.growfs 0 2\n");
}

TEST_F(Volumes, AreVolumeGroupsThatDevicesMake) {
    request.volumes = {group, swap_area};
    const DiskIdentity identity("commit", request);
    const std::vector<Partition> made = partitions();
    EXPECT_EQ(made[1].name, "volume group site");
    EXPECT_EQ(made[1].file_system_uuid, "");
    EXPECT_THAT(partition_script(made, identity),
                HasSubstr("type=e6d6d379-f507-44c2-a23c-238f2a3df928, uuid=" + made[1].uuid +
                          ", name=\"edgegpu volume group site\"\n"));
    EXPECT_EQ(volume_fstab(request.volumes, made).size(), 1U) << "swap";
    const Injection files = volume_group_files(request.volumes, identity);
    ASSERT_FALSE(files.empty());
    EXPECT_EQ(files.back().path, "/etc/edgegpu/volume-groups.list");
    EXPECT_EQ(files.back().content, made[1].uuid + " site\n");
    EXPECT_TRUE(volume_group_files({var, swap_area}, identity).empty());
}

TEST_F(Volumes, ThatAreGroupsNeedNothingToGrowButLvm) {
    request.volumes = {group};
    request.size = smallest_size;
    std::vector<Partition> made = partitions();
    shrink_volumes(request, commit(), made);
    EXPECT_EQ(made[1].content, mib);
    try {
        check_volumes(request.volumes, commit());
        FAIL() << "no error";
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("has no vgcreate, which makes the volume group "
                                                 "site on devices"));
    }
    fixture.add_directory("/usr/sbin");
    fixture.add_file("/usr/sbin/vgcreate", "x");
    EXPECT_NO_THROW(check_volumes(request.volumes, commit()));
}

TEST_F(Volumes, NeedTheirMountPointsInTheCommit) {
    const CommitView view = commit();
    EXPECT_EQ(missing_for(parts, view), "");
    EXPECT_EQ(missing_for({mib, "", {{"/srv-data/x", ""}}, {}}, view),
              "directory /srv-data/x, on which a file system would be mounted");
    try {
        check_volumes({var, {mib, "", {{"/app", ""}}, {}}}, view);
        FAIL() << "no error";
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), HasSubstr("has no directory /app, on which a file system"));
    }
}

TEST_F(Volumes, AreNotMountedAsSomethingElse) {
    const Volume data{mib, "", {{"/data", ""}}, {}};
    const auto fails = [&](std::string_view table) {
        fixture.add_file("/usr/etc/fstab", table);
        try {
            check_volumes({data}, commit());
        } catch (const Error& failure) {
            return failure.message();
        }
        return std::string("no error");
    };
    EXPECT_EQ(fails("LABEL=a /data ext4 noatime 0 2\n"), "no error");
    EXPECT_THAT(fails("LABEL=a /data xfs defaults 0 0\n"),
                HasSubstr(": /etc/fstab: /data would be mounted as xfs, but it is ext4"));
    EXPECT_THAT(fails("LABEL=a /boot ext4 pquota 0 0\n"),
                HasSubstr("/boot would be mounted with \"pquota\""));
    EXPECT_THAT(fails("LABEL=a / xfs defaults 0 0\n"), HasSubstr("/ would be mounted as xfs"));
    EXPECT_EQ(fails("LABEL=a /mnt xfs defaults 0 0\n"), "no error");
    EXPECT_EQ(fails(""), "no error");
    const Injection table{{Injected::Type::file, "/etc/fstab", "LABEL=a /data xfs defaults 0 0\n"}};
    EXPECT_THROW(check_volumes({data}, commit(), table), Error) << "what is injected counts";
    fixture.add_directory("/usr/etc/systemd");
    fixture.add_directory("/usr/etc/systemd/system");
    fixture.add_file("/usr/etc/systemd/system/data.mount", "[Mount]\nWhere=/data\nType=btrfs\n");
    EXPECT_THAT(fails(""), HasSubstr("/etc/systemd/system/data.mount: /data would be mounted as "
                                     "btrfs"));
}

TEST_F(Volumes, OfACommitThatWasMadeForThemAreNotForgotten) {
    fixture.add_directory("/opt");
    const CommitView view = commit();
    EXPECT_THAT(unused_mount_points({var}, view), ElementsAre("/data"));
    EXPECT_THAT(unused_mount_points({parts}, view), ElementsAre());
    EXPECT_THAT(unused_mount_points({{mib, "", {{"/data/x", ""}}, {}}}, view), ElementsAre());
}

TEST_F(Volumes, HaveWhatTheirDirectoriesHave) {
    const CommitView view = commit();
    const ImageLabels labels(fixture.ctx(), view);
    FileTree etc;
    FileTree tree = initial_var(labels, 1);
    inject({{Injected::Type::file, "/var/log/site/a", "log", 0600, 0, 0},
            {Injected::Type::file, "/var/home/joe/b", "home", 0600, 0, 0},
            {Injected::Type::file, "/var/c", "var", 0600, 0, 0}},
           labels, 1, etc, tree);
    const std::vector<FileTree> trees =
        take_volume_trees({var, parts, swap_area, logs}, labels, 1, tree);
    ASSERT_EQ(trees.size(), 4U);
    EXPECT_TRUE(tree.directories.empty() && tree.files.empty()) << "all of it is in a volume";
    EXPECT_EQ(trees[0].files.at("c").content, "var");
    EXPECT_TRUE(trees[0].files.contains(".ostree-selabeled"));
    for (const char* point : {"log", "home"}) {
        EXPECT_TRUE(trees[0].directories.at(point).files.empty());
        EXPECT_TRUE(trees[0].directories.at(point).directories.empty());
    }
    EXPECT_EQ(trees[3].directories.at("site").files.at("a").content, "log");
    EXPECT_EQ(trees[1].directories.at("h").directories.at("joe").files.at("b").content, "home");
    EXPECT_TRUE(trees[1].directories.contains("d"));
    EXPECT_TRUE(trees[2].directories.empty());
}

TEST_F(Volumes, OfSwapAreMadeByMkswap) {
    request.volumes = {{3 * mib, "pages", {}, {}}};
    request.size = 100 * mib;
    const std::vector<Partition> made = partitions();
    const fs::path disk = fixture.repo().parent_path() / "disk";
    make_sparse_file(disk, disk_size(made));
    write_swap(fixture.ctx(), disk, made[1], "pages");
    const std::string content = read_file(disk);
    EXPECT_EQ(content.substr(made[1].offset + 4086, 10), "SWAPSPACE2");
    EXPECT_EQ(content.substr(made[1].offset + 1024 + 28, 5), "pages");
    for (const fs::directory_entry& entry : fs::directory_iterator(disk.parent_path())) {
        EXPECT_EQ(entry.path().string().find(".swap"), std::string::npos) << entry.path();
    }
}

}  // namespace
}  // namespace edgegpu
