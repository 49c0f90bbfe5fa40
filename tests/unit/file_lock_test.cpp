#include "cache/file_lock.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class FileLockTest : public testing::Test {
protected:
    FileLockTest() {
        ConsoleOutput output;
        output.write = [this](std::string_view text) { shown_ += text; };
        console_ = std::make_unique<Console>(output);
        ctx_.console = console_.get();
        ctx_.cancelled = &cancelled_;
    }

    [[nodiscard]] std::optional<FileLock> attempt(LockMode mode,
                                                  LockFile file = LockFile::kept) const {
        return FileLock::try_take(path_, mode, file);
    }
    [[nodiscard]] FileLock wait(LockMode mode, LockFile file = LockFile::kept) const {
        return FileLock::take(ctx_, path_, mode, "is counting sheep", file);
    }

    /// A process that holds the lock and its pid; ends when it is killed.
    [[nodiscard]] pid_t holder(LockFile file = LockFile::kept) const {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            const auto lock = FileLock::try_take(path_, LockMode::exclusive, file);
            [[maybe_unused]] const ssize_t told = ::write(ends[1], lock ? "1" : "0", 1);
            while (true) {
                ::pause();
            }
        }
        char byte = 0;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
        EXPECT_EQ(byte, '1');
        ::close(ends[0]);
        ::close(ends[1]);
        return child;
    }
    static void kill_process(pid_t process) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }

    test::TemporaryDirectory directory_;
    fs::path path_ = directory_.path() / "below" / "lock";
    std::string shown_;
    std::unique_ptr<Console> console_;
    std::atomic<bool> cancelled_{false};
    Context ctx_;
};

TEST_F(FileLockTest, ExclusiveShutsOutAllAndSharedTheExclusive) {
    {
        const auto one = attempt(LockMode::exclusive);
        ASSERT_TRUE(one);
        EXPECT_EQ(read_file(path_), fmt::format("{}\n", ::getpid()));
        EXPECT_FALSE(attempt(LockMode::exclusive));
        EXPECT_FALSE(attempt(LockMode::shared));
    }
    EXPECT_EQ(read_file(path_), "");
    const auto first = attempt(LockMode::shared);
    const auto second = attempt(LockMode::shared);
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(attempt(LockMode::exclusive));
}

TEST_F(FileLockTest, BecomesShared) {
    std::optional<FileLock> lock = attempt(LockMode::exclusive);
    lock->share();
    EXPECT_TRUE(attempt(LockMode::shared));
    EXPECT_FALSE(attempt(LockMode::exclusive));
    EXPECT_EQ(read_file(path_), "");
}

TEST_F(FileLockTest, KilledHolderLeavesItsNameAndNoLock) {
    const pid_t process = holder();
    EXPECT_FALSE(attempt(LockMode::exclusive));
    kill_process(process);
    EXPECT_EQ(read_file(path_), fmt::format("{}\n", process));
    {
        const auto next = attempt(LockMode::exclusive);
        ASSERT_TRUE(next);
        EXPECT_TRUE(next->was_abandoned());
    }
    EXPECT_FALSE(attempt(LockMode::exclusive)->was_abandoned());
}

TEST_F(FileLockTest, WaitIsSaidAndEndsWhenTheHolderIsKilled) {
    ctx_.log = Log("test");
    ctx_.log.add_file(directory_.path() / "log", LogFormat::text);
    const pid_t process = holder(LockFile::removed);
    auto ending = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(900));
        kill_process(process);
    });
    const FileLock lock = wait(LockMode::exclusive, LockFile::removed);
    ending.get();
    EXPECT_TRUE(lock.was_abandoned());
    EXPECT_EQ(shown_, fmt::format("  waiting for another build (pid {}), which is counting sheep\n",
                                  process));
    EXPECT_THAT(read_file(directory_.path() / "log"),
                testing::HasSubstr(fmt::format("waited lock=lock for=\"another build (pid {})\" "
                                               "which=\"is counting sheep\" seconds=",
                                               process)));
}

TEST_F(FileLockTest, ShortWaitIsNotSaid) {
    std::optional<FileLock> lock = attempt(LockMode::exclusive);
    auto ending = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        lock.reset();
    });
    static_cast<void>(wait(LockMode::exclusive));
    ending.get();
    EXPECT_EQ(shown_, "");
}

TEST_F(FileLockTest, WaitIsInterrupted) {
    const auto lock = attempt(LockMode::exclusive);
    auto interrupting = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancelled_ = true;
    });
    try {
        static_cast<void>(wait(LockMode::shared));
        FAIL() << "the lock was taken twice";
    } catch (const Error& interrupted) {
        EXPECT_EQ(interrupted.kind(), ErrorKind::interrupted);
    }
    interrupting.get();
}

TEST_F(FileLockTest, FileThatIsRemovedIsNeverLockedByTwo) {
    // Each removes the file that the others wait for: one that locked a removed file would be in
    // there together with one that made a new one.
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::vector<std::future<void>> all;
    all.reserve(8);
    for (int thread = 0; thread < 8; ++thread) {
        all.push_back(std::async(std::launch::async, [&] {
            for (int i = 0; i < 100; ++i) {
                std::optional<FileLock> lock;
                while (!(lock = attempt(LockMode::exclusive, LockFile::removed))) {
                    std::this_thread::yield();
                }
                const int now = ++inside;
                most = std::max(most.load(), now);
                std::this_thread::yield();
                --inside;
            }
        }));
    }
    for (std::future<void>& one : all) {
        one.get();
    }
    EXPECT_EQ(most, 1);
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(FileLockTest, LinkIsNotFollowed) {
    make_directories(path_.parent_path());
    const fs::path target = directory_.path() / "target";
    write_file(target, "precious");
    fs::create_symlink(target, path_);
    EXPECT_THROW(static_cast<void>(attempt(LockMode::exclusive)), Error);
    EXPECT_EQ(read_file(target), "precious");
}

}  // namespace
}  // namespace edgegpu
