#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class WriteFile : public testing::Test {
protected:
    [[nodiscard]] fs::path path() const { return directory_.path() / "file"; }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& item : fs::directory_iterator(directory_.path())) {
            found.push_back(item.path().filename());
        }
        return found;
    }

    TemporaryDirectory directory_;
};

/// The signal that ends a process that does this, or 0.
int signal_of(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/// Is killed while it writes, after a page.
void write_and_die(const fs::path& path) {
    constexpr rlim_t page = 4096;
    const struct rlimit size { page, page };
    const struct rlimit no_core { 0, 0 };
    if (::setrlimit(RLIMIT_CORE, &no_core) == 0 && ::setrlimit(RLIMIT_FSIZE, &size) == 0) {
        std::signal(SIGXFSZ, SIG_DFL);
        write_file(path, std::string(std::size_t{4} * page, 'x'));
    }
}

/// Without /proc no anonymous file gets a name.
void hide_proc() {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", "/proc", "tmpfs", 0, nullptr) != 0) {
        ::_exit(1);
    }
}

TEST_F(WriteFile, HasContentAndModeWhateverTheUmask) {
    const mode_t before = ::umask(0077);
    write_file(path(), "one", 0644, true);
    write_file(path(), "two", 0750);
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0750U);
    EXPECT_EQ(read_file(path()), "two");
    EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(WriteFile, AKilledProcessLeavesNothing) {
    EXPECT_EQ(signal_of([&] { write_and_die(path()); }), SIGXFSZ);
    EXPECT_THAT(names(), IsEmpty());
    write_file(path(), "old");
    EXPECT_EQ(signal_of([&] { write_and_die(path()); }), SIGXFSZ);
    EXPECT_THAT(names(), ElementsAre("file"));
    EXPECT_EQ(read_file(path()), "old");
}

TEST_F(WriteFile, WhereFilesNeedNamesLeftoversAreRemoved) {
    const auto without_proc = [&](const std::function<void()>& work) {
        return signal_of([&] {
            hide_proc();
            work();
        });
    };
    EXPECT_EQ(without_proc([&] { write_file(path(), "one", 0640); }), 0);
    EXPECT_EQ(read_file(path()), "one");
    EXPECT_EQ(without_proc([&] { write_file(path(), "two"); }), 0);
    EXPECT_EQ(read_file(path()), "two");
    EXPECT_THAT(names(), ElementsAre("file"));
    EXPECT_EQ(without_proc([&] { write_and_die(path()); }), SIGXFSZ);
    EXPECT_EQ(read_file(path()), "two");
    remove_leftovers_of(path());
    EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(WriteFile, OnlyLeftoversThatNobodyHoldsAreRemoved) {
    write_file(path(), "content");
    const fs::path abandoned = directory_.path() / ".new-file.17-0";
    const fs::path held = directory_.path() / ".new-file.18-0";
    std::vector<fs::path> others;
    for (const char* name : {"file.backup", "file.bak001", ".new-file.mine", ".new-file2.17-0",
                             ".new-other.17-0", "file.AbC123"}) {
        others.push_back(directory_.path() / name);
    }
    for (const fs::path& file : others) {
        std::ofstream(file) << "x";
    }
    std::ofstream(abandoned) << "x";
    std::ofstream(held) << "x";
    const Fd holder(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(lock_file(holder.get(), LOCK_EX));
    remove_leftovers_of(path());
    EXPECT_FALSE(fs::exists(abandoned));
    EXPECT_TRUE(fs::exists(held));
    for (const fs::path& file : others) {
        EXPECT_TRUE(fs::exists(file)) << file;
    }
    EXPECT_EQ(read_file(path()), "content");
}

TEST_F(WriteFile, LinksAreReplacedAndDirectoriesAreNot) {
    std::ofstream(directory_.path() / "other") << "mine";
    fs::create_symlink("other", path());
    write_file(path(), "new");
    EXPECT_FALSE(fs::is_symlink(path()));
    EXPECT_EQ(read_file(directory_.path() / "other"), "mine");
    fs::remove(path());
    fs::create_directory(path());
    try {
        write_file(path(), "new");
        FAIL() << "replaced a directory";
    } catch (const Error& caught) {
        EXPECT_EQ(caught.message(),
                  path().string() + ": is a directory, not a file that can be replaced");
    }
    fs::remove(path());
    ASSERT_EQ(::mkfifo(path().c_str(), 0644), 0);
    EXPECT_THROW(write_file(path(), "new"), Error);
    EXPECT_TRUE(fs::is_fifo(path()));
    EXPECT_THAT(names(), SizeIs(2));
    EXPECT_THROW(write_file(directory_.path() / "absent/file", "x"), Error);
}

}  // namespace
}  // namespace edgegpu
