#include "kmods/symbols.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose_fixture.hpp"
#include "kmods_fixture.hpp"
#include "log/console.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;
using test::ModuleFile;
using test::TemporaryDirectory;
using testing::HasSubstr;

/// A kernel with symbols of its own and of a module, and modules of a driver.
class SymbolsOfModules : public testing::Test, protected ComposeFixture {
protected:
    SymbolsOfModules() {
        tree.kernel = "6.1.0";
        put("symvers.gz",
            packed("0x11111111\t_printk\tvmlinux\tEXPORT_SYMBOL\t\n"
                   "0x22222222\tdrm_open\tdrivers/gpu/drm/drm-kms\tEXPORT_SYMBOL_GPL\t\n"));
        put("kernel/drivers/gpu/drm/drm-kms.ko", "never read");
        nvidia().imports("_printk", 0x11111111).exports("nvidia_open");
        drm().imports("drm_open", 0x22222222).imports("nvidia_open", 0);
    }

    static std::string packed(const std::string& content) {
        const TemporaryDirectory directory;
        write_file(directory.path() / "x", content);
        test::run({"gzip", (directory.path() / "x").string()});
        return read_file(directory.path() / "x.gz");
    }
    ModuleFile& nvidia() { return nvidia_; }
    ModuleFile& drm() { return drm_; }
    void put(const std::string& path, const std::string& content) {
        tree.entries["/usr/lib/modules/6.1.0/" + path] = make_file_entry(context, content, 0644);
    }
    std::string failure() {
        put("extra/nvidia.ko", nvidia_.content());
        put("extra/nvidia-drm.ko", drm_.content());
        std::map<std::string, ModuleInfo> modules;
        for (const auto& [name, file] :
             {std::pair{"nvidia.ko", &nvidia_}, std::pair{"nvidia-drm.ko", &drm_}}) {
            const std::string path = std::string("/usr/lib/modules/6.1.0/extra/") + name;
            modules[path] = read_module(read_file(tree.entries.at(path).content), path);
        }
        ConsoleOutput output;
        output.write = [&](std::string_view text) { said += text; };
        Console loud(output);
        Context saying = context;
        saying.console = &loud;
        return error_message([&] { check_symbols(saying, tree, modules, "kmod-nvidia"); });
    }

    Tree tree;
    std::string said;

private:
    ModuleFile nvidia_{std::string("vermagic=6.1.0 \0", 16)};
    ModuleFile drm_{std::string("vermagic=6.1.0 \0", 16)};
};

TEST_F(SymbolsOfModules, AreThoseOfTheKernelAndOfEachOther) {
    EXPECT_EQ(failure(), "");
    EXPECT_EQ(said, "");
}

TEST_F(SymbolsOfModules, AreOfTheKernelsTypes) {
    nvidia().imports("drm_open", 0x33333333);
    const std::string problem = failure();
    EXPECT_THAT(problem, HasSubstr("/usr/lib/modules/6.1.0/extra/nvidia.ko of kmod-nvidia was made "
                                   "for another build of kernel 6.1.0"));
}

TEST_F(SymbolsOfModules, AreThere) {
    drm().imports("gone", 0x44444444);
    EXPECT_EQ(failure(),
              "/usr/lib/modules/6.1.0/extra/nvidia-drm.ko of kmod-nvidia needs symbol gone, which "
              "neither the kernel nor a module of the image has");
}

TEST_F(SymbolsOfModules, AreThereEvenWithoutVersions) {
    drm().undefined("gone", STB_GLOBAL);
    EXPECT_THAT(failure(), HasSubstr("needs symbol gone"));
}

TEST_F(SymbolsOfModules, MayBeMissingIfTheyAreWeak) {
    drm().undefined("gone", STB_WEAK).undefined("_GLOBAL_OFFSET_TABLE_", STB_GLOBAL);
    EXPECT_EQ(failure(), "");
}

TEST_F(SymbolsOfModules, MayBeOfAnotherVendorsModule) {
    drm().imports("peer", 0x44444444);
    put("updates/peer.ko", ModuleFile("vermagic=6.1.0 ").exports("peer").content());
    EXPECT_EQ(failure(), "");
}

TEST_F(SymbolsOfModules, NeedTheModuleThatHasThem) {
    tree.entries.erase("/usr/lib/modules/6.1.0/kernel/drivers/gpu/drm/drm-kms.ko");
    EXPECT_EQ(failure(),
              "/usr/lib/modules/6.1.0/extra/nvidia-drm.ko of kmod-nvidia needs kernel module "
              "drm-kms, which is not in the image");
}

TEST_F(SymbolsOfModules, AreNotCheckedWithoutAListAndThatIsSaid) {
    tree.entries.erase("/usr/lib/modules/6.1.0/symvers.gz");
    nvidia().imports("drm_open", 0x33333333);
    EXPECT_EQ(failure(), "");
    EXPECT_THAT(said, HasSubstr("are not checked: kernel 6.1.0 brings no list of its own"));
}

TEST_F(SymbolsOfModules, DamagedListsAreErrors) {
    for (const char* list : {"printk\n", "0x1\tprintk\n", "0xg\tprintk\tvmlinux\n",
                             "0x111111111\tprintk\tvmlinux\n", "0x\tprintk\tvmlinux\n"}) {
        put("symvers.gz", packed(list));
        EXPECT_THAT(failure(), HasSubstr("/usr/lib/modules/6.1.0/symvers.gz: not a list of the "
                                         "kernel's symbols"))
            << list;
    }
    const std::string whole = packed(std::string(3000, 'x'));
    put("symvers.gz", whole.substr(0, whole.size() / 2));
    EXPECT_THAT(failure(), HasSubstr("/usr/lib/modules/6.1.0/symvers.gz"));
}

}  // namespace
}  // namespace edgegpu
