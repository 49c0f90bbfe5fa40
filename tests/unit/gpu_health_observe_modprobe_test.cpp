#include "gpu_health/observe/modprobe.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* h200 = "pci:v000010DEd00002335sv000010DEsd000018BEbc03sc02i00";
constexpr const char* modules = "/usr/lib/modules/6.1.0";

std::vector<std::string> blocks(const MachineTree& tree,
                                std::vector<std::string> devices = {h200}) {
    return what_blocks(
        tree.places(),
        {"nvidia", modules, {"nvidia", "nvidia_uvm", "nvidia_drm", "nouveau"}, std::move(devices)});
}

/// What a file of modprobe.d leads to: what `modprobe -n -v -b` of kmod 30 does for the alias of a
/// card where modules.alias leads it to nvidia.
struct ModprobeCase {
    const char* text;
    /// The command that keeps the module out; "": it is loaded.
    const char* blocks;
};

const ModprobeCase modprobe_cases[] = {
    {"blacklist nvidia\n", "blacklist nvidia"},
    {"  blacklist nvidia # never\n", "blacklist nvidia"},
    {"blacklist nvidia nouveau\n", "blacklist nvidia"},
    {"blacklist nouveau nvidia\n", ""},
    {"blacklist nvidia\r\n", ""},
    // By name alone: neither udev nor nvidia-uvm asks for it.
    {"alias nvidia off\n", ""},
    {"alias nvidia* off\n", ""},
    {"alias pci:v000010DE* off\n", "alias pci:v000010DE* off"},
    {"alias\tpci:v000010DEd*sv*sd*bc03sc02i* vfio-pci\n",
     "alias pci:v000010DEd*sv*sd*bc03sc02i* vfio-pci"},
    {"alias pci:v000010DEd*bc03sc00* off\n", ""},
    {"alias pci:v000010de* off\n", ""},
    {"alias pci:v000010DE* off\nalias pci:v*bc03* nvidia\n", ""},
    {"install nvidia /bin/false\n", "install nvidia /bin/false"},
    {"install nvidia /bin/false\nsoftdep nvidia post: nvidia-uvm nvidia-drm\n", ""},
    {"softdep nvidia pre: nouveau\ninstall nvidia /bin/false\n", ""},
    {"install nvidia /bin/false\nsoftdep nvidia post: nvidia-fs\n", "install nvidia /bin/false"},
    {"softdep nvidia post: nvidia-fs\nsoftdep nvidia post: nvidia-uvm\ninstall nvidia :\n",
     "install nvidia :"},
    {"install nvidia /bin/false\nsoftdep nvidia-uvm pre: nouveau\n", "install nvidia /bin/false"},
    {"install nvidia /sbin/modprobe -i nvidia\ninstall nvidia /bin/false\n", ""},
};

TEST(GpuHealthModprobe, SaysWhatKmodDoes) {
    for (const ModprobeCase& one : modprobe_cases) {
        const MachineTree tree;
        tree.write("root/usr/lib/modprobe.d/a.conf", one.text);
        const std::vector<std::string> found = blocks(tree);
        if (*one.blocks == '\0') {
            EXPECT_THAT(found, IsEmpty()) << one.text;
        } else {
            EXPECT_THAT(found,
                        ElementsAre("/usr/lib/modprobe.d/a.conf: " + std::string(one.blocks)))
                << one.text;
        }
    }
}

TEST(GpuHealthModprobe, TheFirstFileByItsNameCounts) {
    const MachineTree tree;
    tree.write("root/etc/modprobe.d/b.conf", "install nvidia /bin/false\n");
    tree.write("root/usr/lib/modprobe.d/a.conf", "install nvidia /bin/true\n");
    EXPECT_THAT(blocks(tree), ElementsAre("/usr/lib/modprobe.d/a.conf: install nvidia /bin/true"));
    tree.write("root/usr/lib/modules/6.1.0/modules.softdep", "softdep nvidia pre: nouveau\n");
    EXPECT_THAT(blocks(tree), IsEmpty()) << "a soft dependency of the module's own";
    tree.write("root/usr/lib/modprobe.d/c.conf", "softdep nvidia post: nvidia-fs\n");
    EXPECT_THAT(blocks(tree), ElementsAre("/usr/lib/modprobe.d/a.conf: install nvidia /bin/true"));
}

TEST(GpuHealthModprobe, OneCardThatLeadsToTheModuleIsEnough) {
    const std::string t4 = "pci:v000010DEd00001EB8sv000010DEsd000012A2bc03sc02i00";
    const MachineTree tree;
    tree.write("root/etc/modprobe.d/a.conf", "alias pci:v000010DEd00001EB8* off\n");
    EXPECT_THAT(blocks(tree, {t4}),
                ElementsAre("/etc/modprobe.d/a.conf: alias pci:v000010DEd00001EB8* off"));
    EXPECT_THAT(blocks(tree, {t4, t4}), testing::SizeIs(1));
    EXPECT_THAT(blocks(tree, {t4, h200}), IsEmpty());
    EXPECT_THAT(blocks(tree, {h200, t4}), IsEmpty());
    EXPECT_THAT(blocks(tree, {}), IsEmpty());
}

TEST(GpuHealthModprobe, ReadsTheKernelsArguments) {
    const std::string kernels = "kernel argument module_blacklist=nvidia";
    const std::string kmods = "kernel argument modprobe.blacklist=nvidia";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"module_blacklist=x,nvidia", kernels},
        {"module_blacklist=\"nvidia\"", kernels},
        {"module_blacklist=nvidia module_blacklist=x", ""},
        {"module_blacklist=x module_blacklist=nvidia", kernels},
        {"module_blacklist=nvidia_drm", ""},
        {"modprobe.blacklist=nvidia modprobe.blacklist=nouveau", kmods},
        {"modprobe.blacklist=nouveau,nvidia", kmods},
        {"modprobe.blacklist=nouveau", ""},
        {"rd.driver.blacklist=nvidia rdblacklist=nvidia", ""},
        {"nvidia.blacklist=nvidia", ""}};
    for (const auto& [arguments, expected] : cases) {
        const MachineTree tree;
        tree.write("proc/cmdline", "quiet " + arguments + "\n");
        const std::vector<std::string> found = blocks(tree);
        EXPECT_EQ(found.empty() ? "" : found.front(), expected) << arguments;
    }
    const MachineTree tree;
    tree.write("proc/cmdline", "rd.driver.blacklist=nvidia\n");
    tree.write("root/run/modprobe.d/initramfsblacklist.conf", "blacklist nvidia\n");
    EXPECT_THAT(blocks(tree),
                ElementsAre("/run/modprobe.d/initramfsblacklist.conf: blacklist nvidia"))
        << "a dracut that writes it where it stays";
}

TEST(GpuHealthModprobe, AsksForTheAliasesAndModulesOfTheMachine) {
    const MachineTree tree;
    tree.write("root/etc/modprobe.d/a.conf",
               "alias pci:v000010DE* off\ninstall nvidia /bin/false\n");
    Facts facts;
    facts.kernel = "6.1.0";
    facts.functions.resize(1);
    facts.functions[0].address = "0000:65:00.0";
    tree.write("sys/bus/pci/devices/0000:65:00.0/modalias", std::string(h200) + "\n");
    tree.write(std::string("root") + modules + "/modules.dep", "extra/nvidia-uvm.ko.xz: x\n");
    EXPECT_EQ(tree.observed(Step::module, facts).module.blocked_by,
              "/etc/modprobe.d/a.conf: install nvidia /bin/false; /etc/modprobe.d/a.conf: alias "
              "pci:v000010DE* off");
    tree.write("root/etc/modprobe.d/b.conf", "softdep nvidia post: nvidia-uvm\n");
    tree.write("sys/bus/pci/devices/0000:65:00.0/modalias", "\n");
    EXPECT_FALSE(tree.observed(Step::module, facts).module.blocked);
}

TEST(GpuHealthModprobe, BlocksInEachWay) {
    const MachineTree tree;
    tree.write("root/etc/modprobe.d/a.conf", "# blacklist nvidia\n\nblacklist\tnvidia\n");
    tree.write("root/run/modprobe.d/b.conf", "install nvidia \\\n/usr/bin/false");
    tree.write("root/usr/lib/modprobe.d/c.conf", "install nvidia /bin/true\nblacklist nouveau\n");
    tree.write("proc/cmdline", "quiet module_blacklist=x,nvidia modprobe.blacklist=nouveau\n");
    EXPECT_THAT(blocks(tree), ElementsAre("/etc/modprobe.d/a.conf: blacklist nvidia",
                                          "/run/modprobe.d/b.conf: install nvidia /usr/bin/false",
                                          "kernel argument module_blacklist=nvidia"));
    const ModuleFile file = tree.observed(Step::module).module;
    EXPECT_TRUE(file.blocked);
    EXPECT_THAT(file.blocked_by, testing::HasSubstr("blacklist nvidia; /run/"));
}

TEST(GpuHealthModprobe, DoesNotBlockWhatOnlyLooksLikeIt) {
    const MachineTree tree;
    tree.write(
        "root/etc/modprobe.d/a.conf",
        "blacklist nvidia_drm\nblacklist nvidiafb\noptions nvidia x=blacklist\n"
        "install nvidia /sbin/modprobe --ignore-install nvidia\nblacklist\ninstall nvidia\n");
    tree.write("root/etc/modprobe.d/a.conf.bak", "blacklist nvidia\n");
    tree.write("proc/cmdline", "modprobe.blacklist= rd.driver.blacklist=nvidia\n");
    EXPECT_THAT(blocks(tree), IsEmpty());
}

TEST(GpuHealthModprobe, HidesFilesBehindThoseOfTheDevice) {
    const MachineTree tree;
    tree.write("root/usr/lib/modprobe.d/nvidia.conf", "blacklist nvidia\n");
    tree.link("root/etc/modprobe.d/nvidia.conf", "/dev/null");
    EXPECT_THAT(blocks(tree), IsEmpty());
    tree.link("root/lib", "usr/lib");
    std::filesystem::remove(tree.at("root/etc/modprobe.d/nvidia.conf"));
    EXPECT_THAT(blocks(tree), ElementsAre("/usr/lib/modprobe.d/nvidia.conf: blacklist nvidia"));
}

}  // namespace
}  // namespace edgegpu::gpu_health
