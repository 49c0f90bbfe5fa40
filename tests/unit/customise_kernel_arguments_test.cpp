#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "customise/kernel/kernel_arguments.hpp"
#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

// What the program does on a device is shown by integration/kernel_arguments_test.
class KernelArguments : public TreeTest {};

TEST_F(KernelArguments, TheImageBringsListAndUnit) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    tree.kernel_arguments = {"quiet"};
    record_kernel_arguments(ctx, {"console=ttyS0", "quiet"}, {}, {}, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/kernel-arguments"), "quiet\nconsole=ttyS0\n");
    add_kernel_arguments_unit(ctx, tree);
    EXPECT_EQ(text("/usr/libexec/edgegpu/kernel-arguments"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/kernel-arguments"));
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/kernel-arguments").mode, 0755U);
    EXPECT_EQ(
        text("/usr/lib/systemd/system/multi-user.target.wants/"
             "edgegpu-kernel-arguments.service"),
        read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-kernel-arguments.service"));
}

TEST_F(KernelArguments, WhatNoBootEntryCanHaveIsAnErrorOfWhoAskedForIt) {
    const auto fails = [&](const std::vector<std::string>& arguments) {
        try {
            record_kernel_arguments(ctx, arguments, {"b.toml", 3, 1}, {}, tree);
        } catch (const Error& problem) {
            return problem.message() + " | " + problem.hint();
        }
        return std::string("no error");
    };
    EXPECT_TRUE(
        fails({std::string(3000, 'x')}).starts_with("b.toml:3:1: kernel arguments of 3001"));
    tree.kernel_arguments = {"ostree=/evil"};
    const std::string text = fails({"quiet"});
    EXPECT_TRUE(text.starts_with("the kernel argument \"ostree=/evil\" cannot be set")) << text;
    EXPECT_NE(text.find("grubby"), std::string::npos) << text;
}

}  // namespace
}  // namespace edgegpu::test
