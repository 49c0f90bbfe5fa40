#include "disk/deployment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "commit/object.hpp"
#include "disk/identity.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kernel_place = "/usr/lib/modules/6.1.0-50-amd64";

/// A commit of an operating system that is as small as possible, and what is made of it.
class DeploymentTest : public ::testing::Test {
protected:
    DeploymentTest() {
        fixture.add_directory("/usr/lib/modules");
        fixture.add_directory(kernel_place);
        fixture.add_file(kernel_place + "/vmlinuz", "kernel");
        fixture.add_file(kernel_place + "/initramfs.img", "initramfs");
        fixture.add_file("/usr/lib/os-release", "# text\nID=edge\nPRETTY_NAME=\"Edge 1\"\n");
        fixture.tree.kernel_arguments = {"console=ttyS0"};
    }

    void add_policy() {
        for (const char* path :
             {"/usr/etc/selinux", "/usr/etc/selinux/small", "/usr/etc/selinux/small/contexts",
              "/usr/etc/selinux/small/contexts/files"}) {
            fixture.add_directory(path);
        }
        fixture.add_file("/usr/etc/selinux/config", "SELINUX=enforcing\nSELINUXTYPE=small\n");
        fixture.add_file("/usr/etc/selinux/small/contexts/files/file_contexts",
                         "/.*\tu:r:any_t:s0\n/\t-d\tu:r:root_t:s0\n/etc(/.*)?\tu:r:etc_t:s0\n"
                         "/boot(/.*)?\tu:r:boot_t:s0\n/boot/lost\\+found/.*\t<<none>>\n"
                         "/var(/.*)?\tu:r:var_t:s0\n");
    }

    void add_remotes(const std::string& content) {
        fixture.add_directory("/usr/etc/ostree");
        fixture.add_directory("/usr/etc/ostree/remotes.d");
        fixture.add_file("/usr/etc/ostree/remotes.d/a.conf", content);
    }

    [[nodiscard]] CommitView commit() {
        if (!repository) {
            built = fixture.build();
            repository.emplace(fixture.repo());
        }
        return repository->open(built.checksum);
    }

    [[nodiscard]] DeploymentPlan plan() {
        const CommitView view = commit();
        return plan_deployment(fixture.ctx(), *repository, view, request);
    }

    [[nodiscard]] std::string planning_fails() {
        try {
            static_cast<void>(plan());
        } catch (const Error& failure) {
            return failure.message() + " | " + failure.hint();
        }
        return "no error";
    }

    /// Writes both file systems, into files that are as large as the plan says, less `missing`.
    void write(std::uint64_t missing = 0) {
        const CommitView view = commit();
        const DeploymentPlan made = plan();
        const DiskIdentity identity(made.commit, request);
        const auto file = [&](const char* name, std::uint64_t size) {
            std::ofstream(path(name)).close();
            fs::resize_file(path(name), size);
            return Ext4Format{0, size, identity.uuid(name), identity.uuid("seed"), name, made.time};
        };
        Ext4Writer root(fixture.ctx(), path("root"), file("root", made.root_bytes - missing));
        Ext4Writer boot(fixture.ctx(), path("boot"), file("boot", made.boot_bytes));
        const ImageLabels labels(fixture.ctx(), view);
        DeploymentFileSystems disk{root, boot, {}};
        write_deployment(fixture.ctx(), *repository, view, made, request,
                         {"ROOT", "BOOT", "1234-ABCD", "none", unlock, {}}, labels, disk);
        root.finish();
        boot.finish();
    }

    [[nodiscard]] std::string writing_fails(std::uint64_t missing = 0) {
        try {
            write(missing);
        } catch (const Error& failure) {
            return failure.message() + " | " + failure.hint();
        }
        return "no error";
    }

    [[nodiscard]] fs::path path(const std::string& name) const {
        return fixture.directory() / name;
    }

    [[nodiscard]] std::string debugfs(const char* image, const std::string& command) const {
        return test::output_of(fmt::format("PATH=$PATH:/usr/sbin debugfs -R '{}' {} 2>/dev/null",
                                           command, path(image).string()));
    }

    [[nodiscard]] std::string deployment() const {
        return fmt::format("/ostree/deploy/edge/deploy/{}.0", built.checksum);
    }

    CommitFixture fixture;
    Commit built;
    std::optional<RepositoryView> repository;
    DiskRequest request;
    /// Arguments by which the initramfs unlocks the root file system.
    std::vector<std::string> unlock;
};

TEST_F(DeploymentTest, ThePlanHasWhatOstreeWillMakeOfTheCommit) {
    request.kernel_arguments = {"quiet", "console=ttyS0"};
    const DeploymentPlan made = plan();
    EXPECT_EQ(made.kernel, "6.1.0-50-amd64");
    EXPECT_TRUE(made.initramfs);
    EXPECT_EQ(made.boot_checksum, sha256_hex("kernelinitramfs"));
    EXPECT_EQ(made.os_id, "edge");
    EXPECT_EQ(made.title, "Edge 1 1.2.3 (ostree:0)");
    EXPECT_EQ(made.stateroot, "edge");
    EXPECT_EQ(made.refspec, "");
    EXPECT_THAT(made.kernel_arguments, ElementsAre("console=ttyS0", "quiet"));
    EXPECT_EQ(made.time, 1700000000);
}

/// They come from somebody's commit, whose boot entry would be another one.
TEST_F(DeploymentTest, ArgumentsThatABootEntryCannotHaveAreErrors) {
    for (const auto& [argument, reason] :
         {std::pair<std::string, const char*>{"ostree=/evil", "cannot be set: ostree sets it"},
          {std::string(3000, 'x'), "kernel arguments of 3"},
          {"quiet\nlinux /evil", "is not one kernel argument"},
          {"a=\"b", "is not one kernel argument"}}) {
        fixture.tree.kernel_arguments = {"quiet", argument};
        repository.reset();
        const std::string failure = planning_fails();
        EXPECT_THAT(failure, ::testing::AllOf(
                                 ::testing::StartsWith(fmt::format("commit {}: ", built.checksum)),
                                 HasSubstr(reason)));
    }
    fixture.tree.kernel_arguments = {"quiet"};
    request.kernel_arguments = {std::string(3000, 'x')};
    repository.reset();
    EXPECT_THAT(planning_fails(), HasSubstr("are too long"));
}

/// Both become lines of a boot entry and of GRUB's menu.
TEST_F(DeploymentTest, AKernelsVersionHasNoOtherCharacters) {
    fixture.tree.entries.erase(kernel_place + "/vmlinuz");
    const std::string odd = "/usr/lib/modules/6.2\nlinux evil";
    fixture.add_directory(odd);
    fixture.add_file(odd + "/vmlinuz", "kernel");
    EXPECT_THAT(planning_fails(), HasSubstr("cannot be the version of a kernel"));
}

TEST_F(DeploymentTest, DeviceTreesArePartOfTheBootChecksum) {
    fixture.add_directory(kernel_place + "/dtb");
    fixture.add_directory(kernel_place + "/dtb/vendor");
    fixture.add_file(kernel_place + "/dtb/z.dtb", "z");
    fixture.add_file(kernel_place + "/dtb/vendor/a.dtb", "a");
    fixture.add_file(kernel_place + "/.vmlinuz.hmac", "not part of it");
    EXPECT_EQ(plan().boot_checksum, sha256_hex("kernelinitramfsaz"));
    write();
    EXPECT_THAT(debugfs("boot", "cat /loader/entries/ostree-1-edge.conf"),
                HasSubstr("\nfdtdir /ostree/edge-"));
    const std::string kernels = "/ostree/edge-" + sha256_hex("kernelinitramfsaz");
    EXPECT_EQ(debugfs("boot", "cat " + kernels + "/dtb/vendor/a.dtb"), "a");
    EXPECT_EQ(debugfs("boot", "cat " + kernels + "/.vmlinuz-6.1.0-50-amd64.hmac"),
              "not part of it");
}

/// Nobody else can set them.
TEST_F(DeploymentTest, TheBootEntryOfAnEncryptedDiskUnlocksIt) {
    unlock = {"rd.luks.name=U=root", "rd.luks.options=U=x"};
    request.kernel_arguments = {"quiet"};
    write();
    EXPECT_THAT(debugfs("boot", "cat /loader/entries/ostree-1-edge.conf"),
                HasSubstr("options root=UUID=ROOT rw console=ttyS0 quiet rd.luks.name=U=root "
                          "rd.luks.options=U=x ostree=/"));
    request.kernel_arguments = {"rd.luks.options=discard"};
    EXPECT_THAT(planning_fails(), HasSubstr("\"rd.luks.options=discard\" cannot be set"));
}

/// dracut's fips.sh looks for the kernel's HMAC in /boot, which it mounts by this alone.
TEST_F(DeploymentTest, TheBootEntryNamesBootInFipsMode) {
    request.kernel_arguments = {"fips=1"};
    write();
    EXPECT_THAT(debugfs("boot", "cat /loader/entries/ostree-1-edge.conf"),
                HasSubstr("console=ttyS0 fips=1 boot=UUID=BOOT ostree=/"));
}

TEST_F(DeploymentTest, TheBootOfTheUserStays) {
    request.kernel_arguments = {"fips=1", "boot=LABEL=boot"};
    write();
    EXPECT_THAT(debugfs("boot", "cat /loader/entries/ostree-1-edge.conf"),
                HasSubstr("fips=1 boot=LABEL=boot ostree=/"));
}

TEST_F(DeploymentTest, ALinkIsNoKernel) {
    fixture.add_directory("/usr/lib/modules/6.2");
    fixture.add_link("/usr/lib/modules/6.2/vmlinuz", "../vmlinuz");
    EXPECT_EQ(planning_fails(), "no error");
}

TEST_F(DeploymentTest, ACommitWithoutKernelIsAnError) {
    fixture.tree.entries.erase(kernel_place + "/vmlinuz");
    EXPECT_THAT(planning_fails(), HasSubstr("the commit has no kernel"));
}

TEST_F(DeploymentTest, ACommitWithTwoKernelsIsAnError) {
    fixture.add_directory("/usr/lib/modules/6.2");
    fixture.add_file("/usr/lib/modules/6.2/vmlinuz", "other");
    EXPECT_THAT(planning_fails(),
                HasSubstr("2 kernels, and ostree starts only one: 6.1.0-50-amd64, 6.2"));
}

TEST_F(DeploymentTest, TheOnlyRemoteOfTheImageIsFollowed) {
    add_remotes("[remote \"edge\"]\nurl=http://x\n");
    request.ref = "lab/12/x86_64/edge";
    EXPECT_EQ(plan().refspec, "edge:lab/12/x86_64/edge");
    request.remote = "other";
    EXPECT_THAT(
        planning_fails(),
        HasSubstr("configures no remote \"other\" in /etc/ostree/remotes.d | it has: edge"));
    request.injection = {
        {Injected::Type::file, "/etc/ostree/remotes.d/b.conf", "[remote \"other\"]\nurl=x\n"}};
    EXPECT_EQ(plan().refspec, "other:lab/12/x86_64/edge");
    request.remote.clear();
    EXPECT_THAT(planning_fails(), HasSubstr("several remotes: edge, other"));
    request.injection[0].path = "/etc/ostree/remotes.d/a.conf";
    EXPECT_EQ(plan().refspec, "other:lab/12/x86_64/edge");
}

TEST_F(DeploymentTest, WhatCannotBeRequestedIsAnError) {
    EXPECT_EQ(planning_fails(), "no error");
    for (const char* name : {"a/b", "..", ".hidden", "a b", "-a"}) {
        request.stateroot = name;
        EXPECT_THAT(planning_fails(), HasSubstr("cannot be the name of a stateroot")) << name;
    }
    request.stateroot.clear();
    for (const char* argument :
         {"ostree=/x", "root=/dev/sda", "initrd=x", "BOOT_IMAGE=x", "a\nb", "a b", ""}) {
        request.kernel_arguments = {argument};
        EXPECT_THAT(planning_fails(), HasSubstr("kernel argument")) << argument;
    }
    for (const char* argument : {"rootfstype=xfs", "rootfstype=btrfs,xfs", "rootflags=prjquota",
                                 "rootflags=noatime,subvol=root"}) {
        request.kernel_arguments = {argument};
        EXPECT_THAT(planning_fails(), HasSubstr("devices would not start")) << argument;
    }
    for (const char* argument : {"rootfstype=ext4", "rootfstype=xfs,ext4", "rootflags=noatime"}) {
        request.kernel_arguments = {argument};
        EXPECT_EQ(planning_fails(), "no error") << argument;
    }
    request.kernel_arguments.clear();
    request.ref = "a//b";
    EXPECT_THAT(planning_fails(), HasSubstr("\"a//b\" is not a valid ref"));
}

TEST_F(DeploymentTest, BothFileSystemsAreSoundAndLabelled) {
    add_policy();
    request.injection = {{Injected::Type::file, "/etc/new/file", "mine", 0600, 7, 8},
                         {Injected::Type::file, "/etc/passwd", "other"},
                         {Injected::Type::symlink, "/var/lib/link", "/etc"},
                         {Injected::Type::directory, "/var/lib/state", "", 0700, 9, 9}};
    write();
    for (const char* image : {"root", "boot"}) {
        int status = -1;
        const std::string output = test::output_of(
            fmt::format("/usr/sbin/e2fsck -fn {} 2>&1", path(image).string()), &status);
        EXPECT_EQ(status, 0) << output;
    }
    EXPECT_EQ(debugfs("root", "cat " + deployment() + "/etc/fstab"),
              "UUID=BOOT /boot ext4 defaults 0 2\n"
              "UUID=1234-ABCD /boot/efi vfat umask=0077,shortname=winnt 0 2\n");
    EXPECT_EQ(debugfs("root", "cat " + deployment() + "/etc/new/file"), "mine");
    EXPECT_EQ(debugfs("root", "cat " + deployment() + "/etc/passwd"), "other");
    EXPECT_EQ(debugfs("root", "cat " + deployment() + "/usr/etc/passwd"),
              "core:x:1000:1000::/home/core:/bin/bash\n");
    const std::string file = debugfs("root", "stat " + deployment() + "/etc/new/file");
    EXPECT_THAT(file, HasSubstr("Mode:  0600"));
    EXPECT_THAT(file, HasSubstr("User:     7   Group:     8"));
    EXPECT_THAT(file, HasSubstr("u:r:etc_t:s0"));
    EXPECT_THAT(debugfs("root", "stat " + deployment() + "/etc/new"), HasSubstr("u:r:etc_t:s0"));
    EXPECT_THAT(debugfs("root", "stat /ostree/deploy/edge/var/lib/link"),
                HasSubstr("Fast link dest: \"/etc\""));
    EXPECT_THAT(debugfs("root", "stat /ostree/deploy/edge/var/lib/state"),
                HasSubstr("u:r:var_t:s0"));
    EXPECT_THAT(debugfs("root", "stat /"), HasSubstr("u:r:root_t:s0"));
    EXPECT_THAT(debugfs("root", "stat /ostree/repo"), HasSubstr("u:r:any_t:s0"));
    EXPECT_THAT(debugfs("boot", "stat /"), HasSubstr("u:r:boot_t:s0"));
    EXPECT_THAT(debugfs("boot", "stat /efi"), HasSubstr("u:r:boot_t:s0"));
    EXPECT_THAT(debugfs("root", "cat /ostree/repo/config"),
                HasSubstr("[sysroot]\nreadonly=true\nbootloader=none\n"));
    EXPECT_EQ(debugfs("root", fmt::format("cat {}.origin", deployment())),
              fmt::format("[origin]\nrefspec={}\n", built.checksum));
}

TEST_F(DeploymentTest, TheImagesOwnMountsAreKept) {
    fixture.add_file("/usr/etc/fstab",
                     "# text\nLABEL=data /data ext4 defaults 0 2\nLABEL=b  /boot  ext4 ro 0 0");
    write();
    EXPECT_EQ(debugfs("root", "cat " + deployment() + "/etc/fstab"),
              "# text\nLABEL=data /data ext4 defaults 0 2\nLABEL=b  /boot  ext4 ro 0 0\n"
              "UUID=1234-ABCD /boot/efi vfat umask=0077,shortname=winnt 0 2\n");
}

/// systemd waits for it, and nobody can log in in its emergency mode.
TEST_F(DeploymentTest, AMountOfAnotherBootIsRefused) {
    fixture.add_file("/usr/etc/fstab", "UUID=other /boot ext4 defaults 0 2\n");
    EXPECT_THAT(writing_fails(), HasSubstr("/etc/fstab mounts UUID=other at /boot, and on the "
                                           "disk that is UUID=BOOT"));
}

TEST_F(DeploymentTest, AMountThatMayFailStays) {
    fixture.add_file("/usr/etc/fstab", "UUID=other\t/boot  ext4  ro,nofail 0 2\n");
    EXPECT_EQ(writing_fails(), "no error");
}

TEST_F(DeploymentTest, TheMountOfTheDisksBootStays) {
    fixture.add_file("/usr/etc/fstab", "UUID=BOOT /boot ext4 defaults 0 2\n");
    EXPECT_EQ(writing_fails(), "no error");
}

TEST_F(DeploymentTest, WhatIsInjectedStaysInEtcAndVar) {
    fixture.add_directory("/usr/etc/directory");
    fixture.add_link("/usr/etc/link", "/usr");
    EXPECT_EQ(writing_fails(), "no error");
    const auto fails = [&](const char* where, Injected::Type type = Injected::Type::file) {
        request.injection = {{type, where, ""}};
        return writing_fails();
    };
    for (const char* where :
         {"/usr/x", "/etc", "/etc/", "/etc//x", "/etc/./x", "/var/../usr/x", "etc/x", "", "/"}) {
        EXPECT_THAT(fails(where), HasSubstr("it is not a path below /etc or /var")) << where;
    }
    EXPECT_THAT(fails("/etc/link/x"), HasSubstr("/etc/link is a symbolic link to /usr"));
    EXPECT_THAT(fails("/var/run/x"), HasSubstr("/var/run is a symbolic link to ../run"));
    EXPECT_THAT(fails("/etc/passwd/x"), HasSubstr("/etc/passwd is a file"));
    EXPECT_THAT(fails("/etc/directory"), HasSubstr("there is a directory"));
    EXPECT_THAT(fails("/etc/passwd", Injected::Type::directory), HasSubstr("there is a file"));
    EXPECT_EQ(fails("/etc/link"), "no error") << "a link itself is replaced";
}

TEST_F(DeploymentTest, ADiskThatIsTooSmallIsAnError) {
    // Not compressible, nor equal: each has its object.
    for (int i = 0; i < 40; ++i) {
        fixture.add_file(fmt::format("/usr/lib/large{}", i),
                         std::string(1U << 20U, static_cast<char>('0' + i)));
    }
    EXPECT_EQ(writing_fails(), "no error");
    EXPECT_THAT(writing_fails(16U << 20U), ::testing::ContainsRegex("too small|is full"));
}

TEST_F(DeploymentTest, ATreeWithoutEndIsAnError) {
    std::string deep = "/usr/lib/d";
    for (int i = 0; i < 20; ++i) {
        fixture.add_directory(deep);
        deep += "/" + std::string(250, 'd');
    }
    EXPECT_THAT(planning_fails(), HasSubstr("its tree has paths of more than 4095 bytes"));
}

TEST_F(DeploymentTest, DamagedObjectsAreErrors) {
    const CommitView view = commit();
    const std::string tool = view.find("/usr/bin/tool")->checksum;
    const fs::path object = fixture.repo() / "objects" / object_path(tool, "filez");
    const std::string content = read_file(object);
    const auto fails = [&](const std::string& damaged) {
        write_file(object, damaged);
        return writing_fails();
    };
    const std::string named = fmt::format("object {}.file of /usr/bin/tool is ", tool);
    std::string changed = content;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    EXPECT_THAT(fails(changed), HasSubstr(named));
    EXPECT_THAT(fails(content.substr(0, content.size() - 3)), HasSubstr(named));
    EXPECT_THAT(fails(content.substr(0, 5)), HasSubstr(named));
    fs::remove(object);
    EXPECT_THAT(writing_fails(), HasSubstr(named + "missing"));
    EXPECT_THAT(writing_fails(), HasSubstr("ostree fsck"));
    write_file(object, content);
    EXPECT_EQ(writing_fails(), "no error");
    // Metadata: another dirmeta of the same size.
    const CommitNode bin = *view.find("/usr/bin");
    const fs::path meta = fixture.repo() / "objects" / object_path(bin.meta, "dirmeta");
    std::string bytes = read_file(meta);
    bytes[0] = 1;
    write_file(meta, bytes);
    EXPECT_THAT(writing_fails(), HasSubstr(fmt::format("object {}.dirmeta of ", bin.meta)));
}

}  // namespace
}  // namespace edgegpu
