#include "kmods/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose_fixture.hpp"
#include "kmods_fixture.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;
using test::make_module;
using testing::HasSubstr;

constexpr const char* kernel = "6.1.0-47-amd64";
constexpr const char* magic = "6.1.0-47-amd64 SMP preempt mod_unload modversions ";

/// An image with a kernel module of its own and the five of a driver.
class ModulesOfADriver : public testing::Test, protected ComposeFixture {
protected:
    ModulesOfADriver() {
        tree.kernel = kernel;
        tree.packages.push_back({"kmod-nvidia-535.1-6.1.0-47", 3, "535.1", "1", "x86_64"});
        put("/usr/lib/modules/6.1.0-47-amd64/kernel/fs/x.ko", module(magic, ""));
        for (const char* name :
             {"nvidia", "nvidia-drm", "nvidia-modeset", "nvidia-peermem", "nvidia-uvm"}) {
            put(path_of(name), module(magic, "535.1"));
        }
    }

    static std::string path_of(const std::string& name) {
        return "/usr/lib/modules/6.1.0-47-amd64/extra/" + name + ".ko";
    }
    static std::string module(const std::string& vermagic, const std::string& version) {
        std::string info = "vermagic=" + vermagic + '\0';
        if (!version.empty()) {
            info += "version=" + version + '\0';
        }
        return make_module(info);
    }
    void put(const std::string& path, const std::string& content) {
        tree.entries[path] = make_file_entry(context, content, 0644);
    }
    std::string failure() {
        return error_message([&] { check_kernel_modules(context, driver, tree); });
    }

    Tree tree;
    std::string driver = "535.1";
};

TEST_F(ModulesOfADriver, AreAccepted) {
    EXPECT_EQ(failure(), "");
    put("/usr/lib/modules/6.1.0-47-amd64/modules.dep",
        "extra/nvidia.ko:\nextra/nvidia-drm.ko: extra/nvidia.ko\nextra/nvidia-modeset.ko:\n"
        "extra/nvidia-peermem.ko:\nextra/nvidia-uvm.ko:\n");
    EXPECT_EQ(error_message([&] { check_module_index(context, driver, tree); }), "");
}

TEST_F(ModulesOfADriver, AreAllThere) {
    tree.entries.erase(path_of("nvidia-uvm"));
    EXPECT_EQ(failure(),
              "kernel module nvidia-uvm is not in the image: "
              "kmod-nvidia-535.1-6.1.0-47-3:535.1-1.x86_64 made none for kernel 6.1.0-47-amd64");
    // Branches before 470 have no nvidia-peermem.
    put(path_of("nvidia-uvm"), module(magic, "535.1"));
    tree.entries.erase(path_of("nvidia-peermem"));
    EXPECT_THAT(failure(), HasSubstr("nvidia-peermem is not in the image"));
    driver = "460.1";
    EXPECT_THAT(failure(), HasSubstr("is of version 535.1, the driver of 460.1"));
}

TEST_F(ModulesOfADriver, AreForTheImagesKernel) {
    put(path_of("nvidia"), module("6.1.0-56-amd64 SMP preempt mod_unload modversions ", "535.1"));
    EXPECT_THAT(failure(), HasSubstr("extra/nvidia.ko of kmod-nvidia-535.1-6.1.0-47-3:535.1-1."
                                     "x86_64 is not for the image's kernel"));
    // The same kernel, built another way.
    put(path_of("nvidia"), module("6.1.0-47-amd64 SMP preempt_rt mod_unload ", "535.1"));
    EXPECT_THAT(failure(), HasSubstr("is not for the image's kernel"));
}

TEST_F(ModulesOfADriver, AreTheModulesThatTheirFilesAreNamedAfter) {
    const std::string info = "vermagic=" + std::string(magic) + '\0' + "version=535.1" + '\0';
    put(path_of("nvidia-drm"), make_module(info + "name=nvidia_drm" + '\0'));
    EXPECT_EQ(failure(), "");
    put(path_of("nvidia-drm"), make_module(info + "name=nouveau" + '\0'));
    EXPECT_THAT(failure(), HasSubstr("is another kernel module, nouveau"));
}

TEST_F(ModulesOfADriver, NeedSymbolsThatTheImageHas) {
    put("/usr/lib/modules/6.1.0-47-amd64/symvers.xz", "0x00000001\tprintk\tvmlinux\n");
    EXPECT_EQ(failure(), "");
    const std::string info = "vermagic=" + std::string(magic) + '\0' + "version=535.1" + '\0';
    put(path_of("nvidia"), test::ModuleFile(info).imports("printk", 2).content());
    EXPECT_THAT(failure(), HasSubstr("was made for another build of kernel 6.1.0-47-amd64"));
}

TEST_F(ModulesOfADriver, AreListed) {
    put("/usr/lib/modules/6.1.0-47-amd64/modules.dep", "extra/nvidia.ko:\n");
    EXPECT_EQ(error_message([&] { check_module_index(context, driver, tree); }),
              "modules.dep of the image does not list " + path_of("nvidia-drm"));
}

TEST_F(ModulesOfADriver, InPlaceOfTheKernelsOwnAreAWarning) {
    std::string said;
    ConsoleOutput output;
    output.write = [&](std::string_view text) { said += text; };
    Console loud(output);
    context.console = &loud;
    put("/usr/lib/modules/6.1.0-47-amd64/updates/dkms/x.ko.xz", "");
    put("/usr/lib/modules/6.1.0-47-amd64/modules.dep", "kernel/fs/x.ko:\nextra/nvidia.ko:\n");
    check_module_index(context, "", tree);
    EXPECT_EQ(said, "") << "the kernel's own is loaded";
    put("/usr/lib/modules/6.1.0-47-amd64/modules.dep", "updates/dkms/x.ko.xz:\n");
    check_module_index(context, "", tree);
    EXPECT_THAT(said, HasSubstr("devices load "
                                "/usr/lib/modules/6.1.0-47-amd64/updates/dkms/x.ko.xz in place of "
                                "the kernel's own module "
                                "/usr/lib/modules/6.1.0-47-amd64/kernel/fs/x.ko"));
}

TEST_F(ModulesOfADriver, LeaveNothingElseBehind) {
    put("/usr/lib64/nvidia/x86_64/535.1/k/nvidia.o", "o");
    put("/usr/lib64/nvidia/x86_64/535.1/k/nvidia.sig", "s");
    put("/usr/lib64/nvidia/xorg/libglx.so", "kept");
    put("/usr/share/nvidia-k/module.lds", "l");
    put("/usr/share/nvidia-k/signing_key.x509", "kept");
    put("/usr/bin/ld.gold.nvidia.535.1.k", "ld");
    put("/usr/src/nvidia-535.1/nvidia.c", "c");
    put("/usr/bin/nvidia-smi", "kept");
    for (const char* directory :
         {"/usr/lib64", "/usr/lib64/nvidia", "/usr/lib64/nvidia/x86_64",
          "/usr/lib64/nvidia/x86_64/535.1", "/usr/lib64/nvidia/x86_64/535.1/k", "/usr/src",
          "/usr/src/nvidia-535.1"}) {
        tree.entries[directory].type = EntryType::directory;
    }
    remove_module_leftovers(tree);
    for (const char* kept :
         {"/usr/lib64/nvidia/xorg/libglx.so", "/usr/share/nvidia-k/signing_key.x509",
          "/usr/bin/nvidia-smi", "/usr/lib64/nvidia", "/usr/src"}) {
        EXPECT_TRUE(tree.entries.contains(kept)) << kept;
    }
    for (const char* gone : {"/usr/lib64/nvidia/x86_64", "/usr/share/nvidia-k/module.lds",
                             "/usr/bin/ld.gold.nvidia.535.1.k", "/usr/src/nvidia-535.1"}) {
        EXPECT_FALSE(tree.entries.contains(gone)) << gone;
    }
}

}  // namespace
}  // namespace edgegpu
