#include "machine/uefi_firmware.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A host's directories, as far as the search looks at them.
class UefiFirmwareTest : public ::testing::Test {
protected:
    void put(const std::string& path, const std::string& text = "x") {
        make_directories((root / path).parent_path());
        write_file(root / path, text);
    }
    void describe(const std::string& file, const std::string& name, const std::string& features,
                  const std::string& mapping = R"("device": "flash",)",
                  const std::string& machine = "pc-q35-*") {
        put(file, R"({"interface-types": ["uefi"], "mapping": {)" + mapping +
                      R"("executable": {"filename": "/fw/)" + name +
                      R"(.code", "format": "raw"}, "nvram-template": {"filename": "/fw/)" + name +
                      R"(.vars", "format": "qcow2"}}, "targets": [{"architecture": "x86_64", )" +
                      R"("machines": [")" + machine + R"("]}], "features": [)" + features + "]}");
        put("fw/" + name + ".code");
        put("fw/" + name + ".vars");
    }
    std::string found(bool secure_boot = false) {
        try {
            return fs::relative(find_uefi_firmware(secure_boot, root).code, root).string();
        } catch (const Error& failure) {
            return failure.message();
        }
    }

    test::TemporaryDirectory directory;
    fs::path root = directory.path();
};

TEST_F(UefiFirmwareTest, TakesTheFirstDescriptorThatFits) {
    describe("usr/share/qemu/firmware/60-plain.json", "plain", "\"acpi-s3\"");
    describe("usr/share/qemu/firmware/50-secure.json", "secure",
             R"("requires-smm", "secure-boot", "enrolled-keys")");
    describe("usr/share/qemu/firmware/40-empty.json", "empty", R"("requires-smm", "secure-boot")");
    describe("usr/share/qemu/firmware/30-memory.json", "memory", "", R"("device": "memory",)");
    describe("usr/share/qemu/firmware/31-stateless.json", "stateless", "",
             R"("device": "flash", "mode": "stateless",)");
    describe("usr/share/qemu/firmware/32-microvm.json", "microvm", "", R"("device": "flash",)",
             "microvm");
    EXPECT_EQ(found(), "fw/plain.code");
    EXPECT_EQ(found(true), "fw/secure.code");
    const UefiFirmware secure = find_uefi_firmware(true, root);
    EXPECT_TRUE(secure.needs_smm);
    EXPECT_EQ(secure.variables_format, "qcow2");
    EXPECT_FALSE(find_uefi_firmware(false, root).needs_smm);
}

TEST_F(UefiFirmwareTest, LetsTheAdministratorHideADescriptor) {
    describe("usr/share/qemu/firmware/60-a.json", "a", "");
    describe("usr/share/qemu/firmware/70-b.json", "b", "");
    EXPECT_EQ(found(), "fw/a.code");
    put("etc/qemu/firmware/60-a.json", "");
    EXPECT_EQ(found(), "fw/b.code");
    describe("etc/qemu/firmware/70-b.json", "own", "");
    EXPECT_EQ(found(), "fw/own.code");
}

TEST_F(UefiFirmwareTest, SkipsWhatIsNoDescriptor) {
    for (const std::string text :
         {"", "{", "[]", "null", R"({"mapping": 7})", R"({"interface-types": ["uefi"]})",
          R"({"interface-types": ["uefi"], "mapping": {"device": "flash", "mode": []}})"}) {
        put("usr/share/qemu/firmware/10-bad.json", text);
        EXPECT_EQ(found(), "there is no UEFI firmware for virtual machines") << text;
    }
    put("usr/share/qemu/firmware/11-long.json", std::string(100000, ' '));
    describe("usr/share/qemu/firmware/20-gone.json", "gone", "");
    fs::remove(root / "fw/gone.vars");
    EXPECT_EQ(found(true), "there is no UEFI firmware for virtual machines with Secure Boot");
    EXPECT_EQ(found(), "there is no UEFI firmware for virtual machines");
}

TEST_F(UefiFirmwareTest, KnowsWhereDistributionsHaveIt) {
    put("usr/share/OVMF/OVMF_CODE.fd");
    put("usr/share/OVMF/OVMF_VARS.fd");
    EXPECT_EQ(found(), "usr/share/OVMF/OVMF_CODE.fd");
    put("usr/share/edk2/ovmf/OVMF_CODE.fd");
    put("usr/share/edk2/ovmf/OVMF_VARS.fd");
    EXPECT_EQ(found(), "usr/share/edk2/ovmf/OVMF_CODE.fd");
    put("usr/share/OVMF/OVMF_CODE_4M.fd");
    put("usr/share/OVMF/OVMF_VARS_4M.fd");
    EXPECT_EQ(found(), "usr/share/OVMF/OVMF_CODE_4M.fd");
}

}  // namespace
}  // namespace edgegpu
