#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "support/file.hpp"
#include "support/foreign_access.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class ForeignAccess : public testing::Test {
protected:
    [[nodiscard]] fs::path made(unsigned mode) const {
        fs::path path = directory_.path() / "made";
        make_directories(path);
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    test::TemporaryDirectory directory_;
};

TEST_F(ForeignAccess, NobodyElseHasItByDefault) {
    EXPECT_EQ(foreign_access(made(0755)), "");
    EXPECT_EQ(foreign_access(made(0700)), "");
    EXPECT_EQ(foreign_access(directory_.path() / "none"), "");
}

TEST_F(ForeignAccess, PermissionsOfOthers) {
    EXPECT_EQ(foreign_access(made(0757)), "can be written by everybody");
    EXPECT_EQ(foreign_access(made(01777)), "can be written by everybody");
    // The ids of a build's namespace have no names.
    EXPECT_TRUE(foreign_access(made(0775)).starts_with("can be written by group "));
}

TEST_F(ForeignAccess, AnotherOwner) {
    const fs::path path = made(0755);
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);  // the image's root
    EXPECT_EQ(foreign_access(path), "belongs to root");
    const fs::path link = directory_.path() / "link";
    fs::create_symlink(directory_.path(), link);
    EXPECT_EQ(foreign_access(link), "");
    ASSERT_EQ(::lchown(link.c_str(), 0, 0), 0);
    EXPECT_EQ(foreign_access(link), "belongs to root") << "its own owner, not that of its target";
}

TEST_F(ForeignAccess, AnAccessControlList) {
    const fs::path path = made(0755);
    // user::rwx, user:1:rwx, group::r-x, mask::rwx, other::r-x (linux/posix_acl_xattr.h)
    struct {
        std::uint32_t version = 2;
        struct {
            std::uint16_t tag, permissions;
            std::uint32_t id;
        } entries[5] = {{1, 7, ~0U}, {2, 7, 1}, {4, 5, ~0U}, {16, 7, ~0U}, {32, 5, ~0U}};
    } list;
    if (::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof list, 0) != 0) {
        GTEST_SKIP() << "a file system without access control lists";
    }
    EXPECT_EQ(foreign_access(path), "can be written by whom its access control list names");
}

}  // namespace
}  // namespace edgegpu
