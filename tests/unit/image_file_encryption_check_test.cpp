#include "image_file/encryption_check.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string checked_kernel = "/usr/lib/modules/6.1.0-50-amd64";

/// An archive of files of these names, in cpio's form, plain.
std::string archive_of(const std::vector<std::string>& names) {
    std::string archive = "070701";
    for (const std::string& name : names) {
        archive += name + '\0';
    }
    return archive + "TRAILER!!!";
}

std::vector<std::string> complete_initramfs() {
    return {"usr/lib/systemd/systemd-cryptsetup", "usr/lib64/libtss2-esys.so.0",
            "usr/lib64/libtss2-mu.so.0",          "usr/lib64/libtss2-rc.so.0",
            "usr/lib64/libtss2-tcti-device.so.0", "kernel/drivers/md/dm-crypt.ko.xz",
            "kernel/drivers/char/tpm/tpm_tis.ko"};
}

/// The message and hint for a commit with this initramfs; "" if it is good.
std::string checked(const std::vector<std::string>& initramfs, const std::string& built_in,
                    bool programs, const std::string& commits = "quiet",
                    const std::string& requested = "quiet") {
    test::CommitFixture fixture;
    fixture.tree.kernel_arguments = {commits};
    for (const char* path : {"/usr/lib/modules", checked_kernel.c_str(), "/usr/sbin", "/usr/lib64",
                             "/usr/lib64/cryptsetup"}) {
        fixture.add_directory(path);
    }
    fixture.add_file(checked_kernel + "/vmlinuz", "kernel");
    fixture.add_file(checked_kernel + "/initramfs.img", archive_of(initramfs));
    fixture.add_file(checked_kernel + "/modules.builtin", built_in);
    if (programs) {
        fixture.add_file("/usr/sbin/cryptsetup", "program");
        fixture.add_file("/usr/bin/systemd-cryptenroll", "program");
        fixture.add_file("/usr/lib64/cryptsetup/libcryptsetup-token-systemd-tpm2.so", "library");
    }
    const Commit commit = fixture.build();
    const RepositoryView repository(fixture.repo());
    try {
        check_for_encryption(repository.open(commit.checksum), {requested});
    } catch (const Error& caught) {
        return caught.message() + " | " + caught.hint();
    }
    return "";
}

TEST(EncryptionCheck, DriversAreInTheKernelOrInTheInitramfs) {
    const std::string crb = "kernel/drivers/char/tpm/tpm_crb.ko\n";
    EXPECT_EQ(checked(complete_initramfs(), crb, true), "");
    EXPECT_THAT(checked(complete_initramfs(), "", true),
                AllOf(HasSubstr("the initramfs has no driver tpm_crb"), HasSubstr("tpm2-tss"),
                      Not(HasSubstr("the image has no"))));
}

/// systemd-cryptsetup-generator and dracut leave every disk locked then.
TEST(EncryptionCheck, KernelArgumentsDoNotTurnItOff) {
    const std::string crb = "kernel/drivers/char/tpm/tpm_crb.ko\n";
    for (const char* off : {"rd.luks=0", "rd.luks=no", "luks=off"}) {
        const std::string expected =
            "the kernel argument \"" + std::string(off) +
            "\" would leave the encrypted disk locked, and the device would not boot";
        EXPECT_THAT(checked(complete_initramfs(), crb, true, off), HasSubstr(expected));
        EXPECT_THAT(checked(complete_initramfs(), crb, true, "quiet", off), HasSubstr(expected));
    }
    EXPECT_EQ(checked(complete_initramfs(), crb, true, "rd.luks=1", "rd.lvm=0"), "");
}

TEST(EncryptionCheck, OneErrorNamesEverythingThatIsMissing) {
    // The generator alone does not unlock anything.
    const std::string message =
        checked({"usr/lib/systemd/system-generators/systemd-cryptsetup-generator"}, "", false);
    for (const char* name :
         {"the image has no cryptsetup, systemd-cryptenroll, libcryptsetup-token-systemd-tpm2.so",
          "systemd-cryptsetup, libtss2-esys, libtss2-mu, libtss2-rc, libtss2-tcti-device",
          "dm-crypt", "tpm_tis", "tpm_crb", "add_dracutmodules"}) {
        EXPECT_THAT(message, HasSubstr(name));
    }
}

}  // namespace
}  // namespace edgegpu
