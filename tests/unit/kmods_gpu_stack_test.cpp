#include "kmods/gpu_stack.hpp"

#include <gmock/gmock.h>

#include "compose_fixture.hpp"
#include "kmods_fixture.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;
using test::make_module;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An image with a driver, as gpu_stack_of sees it.
class GpuStack : public testing::Test, protected ComposeFixture {
protected:
    GpuStack() {
        tree.entries["/"].type = EntryType::directory;
        tree.kernel = "6.1.0-47-amd64";
        tree.packages = {{"nvidia-driver", 3, "535.1", "1.el9", "x86_64"},
                         {"kmod-nvidia-535.1-6.1.0-47", 3, "535.1", "1", "x86_64"},
                         {"bash", 0, "5.1", "1", "x86_64"},
                         {"libnvidia-container1", 0, "1.17.0", "1", "x86_64"},
                         {"cuda-drivers-535", 0, "535.1", "1", "x86_64"},
                         {"xnvidia-x", 0, "1", "1", "x86_64"}};
        put("/usr/lib/modules/6.1.0-47-amd64/extra/nvidia.ko", module("535.1", "NVIDIA"));
        put("/usr/lib/modules/6.1.0-47-amd64/extra/nvidia-uvm.ko", module("535.1", "Dual MIT/GPL"));
        put("/usr/lib/modules/6.1.0-47-amd64/extra/other.ko", "no module, and nobody reads it");
        put("/usr/lib/modules/6.1.0-47-amd64/kernel/drivers/nvidia.ko", "not read either");
        put("/usr/lib/modules/6.1.0-50-amd64/extra/nvidia.ko", "of another kernel");
        put("/usr/lib/firmware/nvidia/535.1/gsp_tu10x.bin", "x");
        put("/usr/lib/firmware/nvidia/535.10/gsp_tu10x.bin", "x");
        put("/usr/lib64/libnvidia-ml.so.535.1", "x");
        put("/usr/lib64/libcuda.so.535.1", "x");
        put("/usr/lib/libcuda.so.535.1", "of 32 bits");
        tree.entries["/usr/lib64/libnvidia-ml.so.1"] = link_to("libnvidia-ml.so.535.1");
    }
    static std::string module(const std::string& version, const std::string& license) {
        return make_module("license=" + license + '\0' + "version=" + version + '\0');
    }
    void put(const std::string& path, const std::string& content) {
        tree.entries[path] = make_file_entry(context, content, 0644);
    }
    Tree tree;
};

TEST_F(GpuStack, IsWhatTheImageHas) {
    const gpu_health::Stack stack = gpu_stack_of("535.1", tree);
    EXPECT_EQ(stack.driver, "535.1");
    EXPECT_EQ(stack.flavor, "proprietary");
    EXPECT_EQ(stack.kernel, "6.1.0-47-amd64");
    const std::string top = "/usr/lib/modules/6.1.0-47-amd64/extra/";
    EXPECT_THAT(
        stack.modules,
        ElementsAre(gpu_health::StackModule{"nvidia", top + "nvidia.ko", "535.1", "", ""},
                    gpu_health::StackModule{"nvidia_uvm", top + "nvidia-uvm.ko", "535.1", "", ""}));
    EXPECT_THAT(stack.firmware, ElementsAre("/usr/lib/firmware/nvidia/535.1/gsp_tu10x.bin"));
    EXPECT_THAT(stack.libraries,
                ElementsAre("/usr/lib64/libcuda.so.535.1", "/usr/lib64/libnvidia-ml.so.535.1"));
    EXPECT_THAT(stack.packages, ElementsAre("cuda-drivers-535-535.1-1.x86_64",
                                            "kmod-nvidia-535.1-6.1.0-47-3:535.1-1.x86_64",
                                            "libnvidia-container1-1.17.0-1.x86_64",
                                            "nvidia-driver-3:535.1-1.el9.x86_64"));
}

TEST_F(GpuStack, TheFlavorIsThatOfTheLicence) {
    const std::string path = "/usr/lib/modules/6.1.0-47-amd64/extra/nvidia.ko";
    put(path, module("535.1", "Dual MIT/GPL"));
    EXPECT_EQ(gpu_stack_of("535.1", tree).flavor, "open");
    put(path, make_module("version=535.1"));
    EXPECT_EQ(gpu_stack_of("535.1", tree).flavor, "");
}

TEST_F(GpuStack, IsInImagesWithADriver) {
    add_gpu_stack(context, "", tree);
    EXPECT_EQ(find_entry(tree, gpu_stack_path), nullptr);
    add_gpu_stack(context, "535.1", tree);
    EXPECT_EQ(gpu_health::read_stack(read_entry(tree, gpu_stack_path)),
              gpu_stack_of("535.1", tree));
    EXPECT_EQ(tree.entries.at(gpu_stack_path).mode, 0644U);
}

TEST_F(GpuStack, AModuleThatCannotBeReadIsNamed) {
    const std::string path = "/usr/lib/modules/6.1.0-47-amd64/extra/nvidia.ko";
    put(path, "junk");
    EXPECT_THAT(error_message([&] { static_cast<void>(gpu_stack_of("535.1", tree)); }),
                HasSubstr(path));
}

TEST_F(GpuStack, AnImageMayLackAllOfIt) {
    const gpu_health::Stack stack = gpu_stack_of("1", Tree());
    EXPECT_EQ(stack.driver, "1");
    EXPECT_THAT(stack.modules, IsEmpty());
    EXPECT_THAT(stack.packages, IsEmpty());
}

}  // namespace
}  // namespace edgegpu
