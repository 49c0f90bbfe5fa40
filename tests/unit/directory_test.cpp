#include "support/files/directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

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

TEST_F(Directory, TemporaryOnesAreRemovedUnlessKept) {
    fs::path gone;
    fs::path kept;
    {
        const edgegpu::TemporaryDirectory first(directory_.path() / "t");
        edgegpu::TemporaryDirectory second(directory_.path() / "t");
        EXPECT_NE(first.path(), second.path());
        EXPECT_EQ(fs::status(first.path()).permissions(),
                  fs::perms::owner_all | fs::perms::sticky_bit);
        fs::create_directory(first / "below");
        write_file(first / "below/file", "x");
        second.keep();
        gone = first.path();
        kept = second.path();
    }
    EXPECT_FALSE(fs::exists(gone));
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_THROW(edgegpu::TemporaryDirectory(directory_.path() / "absent/t"), Error);
}

/// What a process leaves that is killed while it has a temporary directory of that prefix.
fs::path left_by_killed_process(const fs::path& prefix) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const edgegpu::TemporaryDirectory made(prefix);
        write_file(made / "file", "");
        static_cast<void>(write_all(ends[1], made.path().string()));
        ::raise(SIGKILL);
    }
    ::close(ends[1]);
    const Fd output(ends[0]);
    std::string path(4096, '\0');
    const ssize_t count = ::read(output.get(), path.data(), path.size());
    path.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return path;
}

TEST_F(Directory, TemporaryOnesOfKilledProcessesAreRemovedByTheNext) {
    const fs::path prefix = directory_.path() / "made";
    const fs::path left = left_by_killed_process(prefix);
    ASSERT_TRUE(fs::exists(left / "file"));
    const edgegpu::TemporaryDirectory live(prefix);
    EXPECT_FALSE(fs::exists(left));
    const fs::path other = left_by_killed_process(directory_.path() / "made.too");
    const fs::path users = directory_.path() / "made.ABCDEF";
    fs::create_directory(users);
    const edgegpu::TemporaryDirectory next(prefix);
    EXPECT_TRUE(fs::exists(live.path())) << "it is in use";
    EXPECT_TRUE(fs::exists(other)) << "it has another prefix";
    EXPECT_TRUE(fs::exists(users)) << "it was made by somebody else";
}

TEST_F(Directory, OneThatWasKeptIsNobodysToRemove) {
    const fs::path prefix = directory_.path() / "made";
    fs::path path;
    {
        edgegpu::TemporaryDirectory made(prefix);
        made.keep();
        path = made.path();
    }
    const edgegpu::TemporaryDirectory next(prefix);
    EXPECT_TRUE(fs::exists(path));
}

TEST_F(Directory, WhatIsPublishedReplacesOnlyWhatItMay) {
    const fs::path made = directory_.path() / "made";
    const fs::path target = directory_.path() / "target";
    const auto refused = [&](Existing existing) {
        write_file(made, "new");
        try {
            publish(made, target, existing);
        } catch (const Error& failure) {
            return fs::exists(made) && failure.kind() == ErrorKind::usage &&
                   failure.message().starts_with(target.string());
        }
        return false;
    };
    write_file(made, "first");
    publish(made, target, Existing::refuse);
    EXPECT_EQ(read_file(target), "first");
    EXPECT_TRUE(refused(Existing::refuse));
    EXPECT_EQ(read_file(target), "first");
    publish(made, target, Existing::replace);
    EXPECT_EQ(read_file(target), "new");

    fs::remove(target);
    ASSERT_EQ(::mkfifo(target.c_str(), 0600), 0);
    EXPECT_TRUE(refused(Existing::replace));
    EXPECT_TRUE(fs::is_fifo(target));
    fs::remove(target);
    fs::create_symlink("elsewhere", target);
    EXPECT_TRUE(refused(Existing::replace));
    EXPECT_TRUE(refused(Existing::refuse));
    EXPECT_TRUE(fs::is_symlink(target));
}

TEST_F(Directory, DirectoriesArePublishedWhole) {
    const fs::path made = directory_.path() / "made";
    fs::create_directory(made);
    write_file(made / "file", "x");
    publish(made, directory_.path() / "target", Existing::refuse);
    EXPECT_EQ(read_file(directory_.path() / "target/file"), "x");
    fs::create_directory(made);
    EXPECT_THROW(publish(made, directory_.path() / "target", Existing::refuse), Error);
}

}  // namespace
}  // namespace edgegpu
