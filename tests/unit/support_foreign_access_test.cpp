#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/access_list.hpp"
#include "../support/rpm_fixture.hpp"
#include "support/files/file.hpp"
#include "support/files/foreign_access.hpp"

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
    constexpr const char* listed = "can be written by whom its access control list names";
    if (!test::set_access_list(path, "access", 7, 7, 5)) {
        GTEST_SKIP() << "a file system without access control lists";
    }
    EXPECT_EQ(foreign_access(path), listed);
    ASSERT_TRUE(test::set_access_list(path, "access", 7, 5, 5));
    EXPECT_EQ(foreign_access(path), "") << "the mask allows no writing";
    ASSERT_TRUE(test::set_access_list(path, "access", 5, 7, 7));
    EXPECT_TRUE(foreign_access(path).starts_with("can be written by group "));
    ASSERT_TRUE(test::set_access_list(path, "access", 5, 7, 5));
    EXPECT_EQ(foreign_access(path), "") << "the permissions of the group are those of the mask";
    ASSERT_TRUE(test::set_access_list(path, "default", 7, 7, 5));
    EXPECT_EQ(foreign_access(path), listed) << "what is made in it";
    ASSERT_TRUE(test::set_access_list(path, "default", 5, 7, 7));
    EXPECT_EQ(foreign_access(path), "");
}

}  // namespace
}  // namespace edgegpu
