#include "kmods/weak_updates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose_fixture.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;
using testing::HasSubstr;

class WeakUpdates : public testing::Test, protected ComposeFixture {
protected:
    WeakUpdates() {
        tree.kernel = "6.4.0-150600.23.25-default";
        tree.entries["/"] = directory_entry(0755);
    }

    void put(const std::string& path) {
        tree.entries[modules + path] = make_file_entry(context, "x", 0644);
    }
    /// Target of the link, or "".
    std::string link(const std::string& path) {
        link_weak_updates(tree);
        const auto found = tree.entries.find(modules + tree.kernel + "/weak-updates/" + path);
        return found == tree.entries.end() ? "" : found->second.target;
    }

    const std::string modules = "/usr/lib/modules/";
    Tree tree;
};

TEST_F(WeakUpdates, LinkModulesOfTheFlavour) {
    put("6.4.0-150600.21-default/updates/nvidia.ko");
    put("6.4.0-150600.21-default/extra/deep/other.ko.zst");
    put("6.4.0-150600.21-default/kernel/fs/own.ko");
    put("6.4.0-150600.21-azure/updates/azure.ko");
    put("6.4.0-150600.21-default/updates/readme");
    EXPECT_EQ(link("updates/nvidia.ko"), modules + "6.4.0-150600.21-default/updates/nvidia.ko");
    EXPECT_EQ(link("extra/deep/other.ko.zst"),
              modules + "6.4.0-150600.21-default/extra/deep/other.ko.zst");
    for (const char* none : {"kernel/fs/own.ko", "updates/azure.ko", "updates/readme"}) {
        EXPECT_EQ(link(none), "") << none;
    }
}

TEST_F(WeakUpdates, YieldToTheKernelsOwn) {
    put("6.4.0-150600.21-default/updates/nvidia-drm.ko");
    put(tree.kernel + "/updates/elsewhere/nvidia_drm.ko.xz");
    EXPECT_EQ(link("updates/nvidia-drm.ko"), "");
}

TEST_F(WeakUpdates, OfTwoKernelsAreNotChosenBetween) {
    put("6.4.0-150600.21-default/updates/nvidia.ko");
    put("6.4.0-150600.22-default/updates/nvidia.ko");
    EXPECT_THAT(error_message([&] { link_weak_updates(tree); }),
                HasSubstr("are the same kernel module, for two versions of the kernel"));
}

TEST_F(WeakUpdates, AreKnownByTheirPath) {
    EXPECT_TRUE(is_weak_update("/usr/lib/modules/6.4.0-default/weak-updates/updates/x.ko"));
    EXPECT_FALSE(is_weak_update("/usr/lib/modules/6.4.0-default/updates/weak-updates/x.ko"));
    EXPECT_FALSE(is_weak_update("/usr/lib/modules"));
    EXPECT_FALSE(is_weak_update("/etc/weak-updates/x.ko"));
}

}  // namespace
}  // namespace edgegpu
