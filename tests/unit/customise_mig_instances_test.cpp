#include "customise/system/mig_instances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

class MigInstances : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        directory("/usr/lib/systemd/system");
        file("/usr/lib/systemd/system/multi-user.target", "");
        nvidia_ = NvidiaRequest{};
        nvidia_->devices = {"10de:2335", "10de:20b7", "10de:20b0"};
        nvidia_->mig = {{"10de:2335", {"1g.18gb", "3g.71gb"}, {}},
                        {"", {"1g.6gb", "2g.12gb"}, {}},
                        {"10de:20b0", {}, {}}};
    }
    std::optional<NvidiaRequest> nvidia_;
};

TEST_F(MigInstances, TheLayoutSaysWhereInstancesBegin) {
    EXPECT_EQ(mig_layout_text(*nvidia_),
              "10de:2335 1g.18gb:4 3g.71gb:0\n"
              "10de:20b7 1g.6gb:2 2g.12gb:0\n"
              "all 1g.6gb 2g.12gb\n"
              "10de:20b0\n");
}

TEST_F(MigInstances, WithoutALayoutTheTreeStaysAsItIs) {
    nvidia_->mig.clear();
    const std::size_t before = tree.entries.size();
    add_mig_instances(ctx, nvidia_, tree);
    add_mig_instances(ctx, std::nullopt, tree);
    EXPECT_EQ(tree.entries.size(), before);
}

TEST_F(MigInstances, TheyAreMadeAtBootBeforeAnythingUsesTheGpu) {
    file("/usr/bin/nvidia-smi", "", 0755);
    add_mig_instances(ctx, nvidia_, tree);
    EXPECT_EQ(read_entry(tree, "/usr/lib/edgegpu/mig"), mig_layout_text(*nvidia_));
    EXPECT_EQ(read_entry(tree, "/usr/libexec/edgegpu/mig"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/mig"));
    const std::string unit = read_entry(tree, "/usr/lib/systemd/system/edgegpu-mig.service");
    EXPECT_THAT(unit, HasSubstr(" microshift.service "));
    EXPECT_THAT(unit, HasSubstr(" nvidia-cdi-refresh.service "));
    EXPECT_NE(
        find_entry(tree, "/usr/lib/systemd/system/multi-user.target.wants/edgegpu-mig.service"),
        nullptr);
}

TEST_F(MigInstances, AnImageWithoutNvidiaSmiCannotMakeThem) {
    try {
        add_mig_instances(ctx, nvidia_, tree);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_THAT(error.render(), HasSubstr("nvidia-driver-cuda"));
    }
}

}  // namespace
}  // namespace edgegpu::test
