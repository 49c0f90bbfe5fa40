#include "support/directory.hpp"

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::IsEmpty;

class Directory : public testing::Test {
protected:
    void SetUp() override {
        write_file(directory_.path() / "b", "");
        write_file(directory_.path() / "a", "");
        fs::create_directory(directory_.path() / ".c");
        write_file(directory_.path() / ".c" / "below", "");
    }

    TemporaryDirectory directory_;
};

TEST_F(Directory, NamesAreSortedAndOfTheDirectoryAlone) {
    const auto names =
        names_in(Fd(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    ASSERT_TRUE(names);
    EXPECT_THAT(*names, ElementsAre(".c", "a", "b"));
}

TEST_F(Directory, NamesOfWhatCannotBeReadAreNone) {
    errno = 0;
    EXPECT_FALSE(names_in(Fd(::open((directory_.path() / "a").c_str(), O_RDONLY | O_CLOEXEC))));
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_FALSE(names_in(Fd(::open((directory_.path() / "missing").c_str(), O_RDONLY))));
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(Directory, ChildrenAreSortedAndNoneWhereThereIsNoDirectory) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : children_of(directory_.path())) {
        names.push_back(entry.path().filename());
    }
    EXPECT_THAT(names, ElementsAre(".c", "a", "b"));
    EXPECT_THAT(children_of(directory_.path() / "a"), IsEmpty());
    EXPECT_THAT(children_of(directory_.path() / "missing"), IsEmpty());
}

}  // namespace
}  // namespace edgegpu
