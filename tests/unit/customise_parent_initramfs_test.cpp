#include "customise/initramfs/parent_initramfs.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

using Names = std::vector<std::string>;

const InitramfsContents of_parent{
    {"/init", "/usr/bin/ignition", "/usr/lib/modules/6.1/extra/nouveau.ko.xz",
     "/usr/lib/modules/6.1/kernel/hv-net.ko", "/usr/lib/modules/6.1/kernel/virtio.ko"},
    {"base", "ignition", "ostree"}};

TEST(ParentInitramfs, WhatANewOneLacksIsAdded) {
    const InitramfsContents made{
        {"/init", "/usr/bin/more", "/usr/lib/modules/6.1/kernel/virtio.ko.zst"},
        {"base", "more", "ostree"}};
    const MissingContents missing = missing_of(of_parent, made, {"nouveau"});
    EXPECT_EQ(missing.modules, Names{"ignition"});
    EXPECT_EQ(missing.drivers, Names{"hv_net"});
    EXPECT_EQ(missing.files, Names{"/usr/bin/ignition"});
    EXPECT_EQ(arguments_for(missing), (Names{"--add", "ignition", "--add-drivers", "hv_net"}));
    EXPECT_EQ(arguments_for(missing_of(of_parent, of_parent, {})), Names());
}

class ParentInitramfsCheck : public TreeTest {};

TEST_F(ParentInitramfsCheck, WhatIsMissingInTheEndIsAnError) {
    const auto refusal = [&](const MissingContents& missing) -> std::string {
        try {
            require_nothing_missing(ctx, missing);
        } catch (const Error& problem) {
            return problem.message();
        }
        return "";
    };
    EXPECT_EQ(
        refusal({{"ignition", "more"}, {"hv_net"}, {}}),
        "dracut made an initramfs without the dracut modules ignition, more, which that of the "
        "parent has");
    EXPECT_EQ(refusal({{}, {"hv_net"}, {}}),
              "dracut made an initramfs without the kernel module hv_net, which that of the parent "
              "has");
    const std::size_t before = console.warnings().size();
    EXPECT_EQ(refusal({{}, {}, {"/a", "/b", "/c", "/d"}}), "");
    ASSERT_EQ(console.warnings().size(), before + 1);
    EXPECT_NE(console.warnings().back().find("4 files of the parent's: /a, /b, /c, …"),
              std::string::npos);
}

}  // namespace
}  // namespace edgegpu::test
