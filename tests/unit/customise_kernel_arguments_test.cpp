#include <gtest/gtest.h>

#include "customise/kernel/kernel_arguments.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

// What the program does on a device is shown by integration/kernel_arguments_test.
class KernelArguments : public TreeTest {};

TEST_F(KernelArguments, TheImageBringsListAndUnit) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    tree.kernel_arguments = {"quiet"};
    record_kernel_arguments(ctx, {"console=ttyS0", "quiet"}, {}, {}, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/kernel-arguments"), "quiet\nconsole=ttyS0\n");
    EXPECT_EQ(text("/usr/libexec/edgegpu/kernel-arguments"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/kernel-arguments"));
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/kernel-arguments").mode, 0755U);
    EXPECT_EQ(
        text("/usr/lib/systemd/system/multi-user.target.wants/"
             "edgegpu-kernel-arguments.service"),
        read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-kernel-arguments.service"));
}

}  // namespace
}  // namespace edgegpu::test
