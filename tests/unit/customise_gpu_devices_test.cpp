#include "customise/system/gpu_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* rules = "/usr/lib/udev/rules.d/71-edgegpu-gpu.rules";
constexpr const char* devices_service = "/usr/lib/systemd/system/edgegpu-gpu-devices.service";
constexpr const char* own_cdi = "/usr/lib/systemd/system/edgegpu-cdi.service";

class GpuDevices : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        directory("/usr/lib/systemd/system");
        nvidia_ = NvidiaRequest{};
    }
    std::optional<NvidiaRequest> nvidia_;
};

TEST_F(GpuDevices, WithoutADriverTheTreeStaysAsItIs) {
    nvidia_.reset();
    const std::size_t before = tree.entries.size();
    add_gpu_devices(ctx, nvidia_, tree);
    EXPECT_EQ(tree.entries.size(), before);
}

TEST_F(GpuDevices, NodesAreLabelledWhenTheDriverBinds) {
    add_gpu_devices(ctx, nvidia_, tree);
    EXPECT_THAT(read_entry(tree, rules), HasSubstr("+=\"edgegpu-gpu-devices.service\"\n"));
    EXPECT_THAT(read_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-gpu.conf"),
                HasSubstr("\nz /dev/nvidia* - - - -\n"));
    const std::string unit = read_entry(tree, devices_service);
    EXPECT_THAT(unit, HasSubstr("ConditionPathExists=/proc/driver/nvidia\n"));
    EXPECT_THAT(unit, Not(HasSubstr("nvidia-modprobe")));
    // Nothing that a boot without a GPU would start.
    EXPECT_THAT(unit, Not(HasSubstr("[Install]")));
    EXPECT_EQ(find_entry(tree, own_cdi), nullptr);
}

TEST_F(GpuDevices, TheNodesAreMadeWhereTheImageCan) {
    file("/usr/bin/nvidia-modprobe", "", 04755);
    add_gpu_devices(ctx, nvidia_, tree);
    const std::string unit = read_entry(tree, devices_service);
    EXPECT_THAT(unit, HasSubstr("ExecStart=-/usr/bin/nvidia-modprobe -c 0 -c 255\n"));
    EXPECT_THAT(unit, HasSubstr("ExecStart=-/usr/bin/nvidia-modprobe -u -c 0\n"));
}

TEST_F(GpuDevices, TheToolkitsOwnUnitWritesTheSpecificationWhereThereIsOne) {
    file("/usr/bin/nvidia-ctk", "", 0755);
    add_gpu_devices(ctx, nvidia_, tree);
    EXPECT_THAT(read_entry(tree, rules), HasSubstr(" edgegpu-cdi.service\"\n"));
    EXPECT_THAT(read_entry(tree, own_cdi), HasSubstr("cdi generate --output=/run/cdi/nvidia.yaml"));

    Tree other;
    std::swap(other, tree);
    tree.entries["/"] = other.entries.at("/");
    directory("/usr/lib/systemd/system");
    file("/usr/bin/nvidia-ctk", "", 0755);
    file("/etc/systemd/system/nvidia-cdi-refresh.service", "");
    add_gpu_devices(ctx, nvidia_, tree);
    EXPECT_THAT(read_entry(tree, rules), HasSubstr(" nvidia-cdi-refresh.service\"\n"));
    EXPECT_THAT(
        read_entry(tree, "/usr/lib/systemd/system/nvidia-cdi-refresh.service.d/10-edgegpu.conf"),
        HasSubstr("After=edgegpu-gpu-devices.service"));
    EXPECT_EQ(find_entry(tree, own_cdi), nullptr);
}

}  // namespace
}  // namespace edgegpu::test
