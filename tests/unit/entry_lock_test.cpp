#include "cache/entry_lock.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class EntryLockTest : public testing::Test {
protected:
    EntryLockTest() { ctx_.cache = directory_.path(); }

    test::TemporaryDirectory directory_;
    Context ctx_;
};

TEST_F(EntryLockTest, OneAKeyAndKind) {
    const EntryLock one(ctx_, EntryKind::import, "ab", "is unpacking a package");
    EXPECT_FALSE(EntryLock::try_take(ctx_, EntryKind::import, "ab"));
    EXPECT_TRUE(EntryLock::try_take(ctx_, EntryKind::import, "cd"));
    EXPECT_TRUE(EntryLock::try_take(ctx_, EntryKind::package, "ab"));
}

TEST_F(EntryLockTest, NothingIsLeft) {
    {
        const EntryLock one(ctx_, EntryKind::kmods, "ab", "is compiling");
        const auto two = EntryLock::try_take(ctx_, EntryKind::policy, "ab");
        EXPECT_FALSE(fs::is_empty(directory_.path() / "locks"));
    }
    EXPECT_TRUE(fs::is_empty(directory_.path() / "locks"));
    EXPECT_TRUE(EntryLock::try_take(ctx_, EntryKind::kmods, "ab"));
}

}  // namespace
}  // namespace edgegpu
