#include "gpu_health/stack.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

TEST(GpuHealthStack, IsTheSameAfterWritingAndReading) {
    const Stack stack{
        "580.159.04",
        "proprietary",
        "5.14.0-570.el9.x86_64",
        {{"nvidia", "/usr/lib/modules/k/extra/nvidia.ko.xz", "580.159.04", "0A", "CN=x"},
         {"nvidia_uvm", "", "", "", ""}},
        {"/usr/lib/firmware/nvidia/580.159.04/gsp_ga10x.bin"},
        {"/usr/lib64/libcuda.so.580.159.04"},
        {"nvidia-driver-3:580.159.04-1.el9.x86_64"}};
    const std::string text = stack_json(stack);
    EXPECT_EQ(read_stack(text), stack);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(stack_json(read_stack(text)), text);
    EXPECT_EQ(read_stack(stack_json({})), Stack{});
    for (std::size_t size = 0; size + 2 < text.size(); ++size) {
        EXPECT_THROW(static_cast<void>(read_stack(text.substr(0, size))), std::runtime_error)
            << size;
    }
}

TEST(GpuHealthStack, IsRefusedWithMembersThatNobodyKnows) {
    for (const char* text : {"", "[]", R"({"drivers": "1"})", R"({"modules": [{"name": 1}]})"}) {
        EXPECT_THROW(static_cast<void>(read_stack(text)), std::runtime_error) << text;
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
