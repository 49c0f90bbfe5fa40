#include "execution/process.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

TEST(Process, ReturnsStatusAndInterleavedOutput) {
    const Context ctx;
    const ProcessResult result =
        run_process(ctx, {"sh", "-c", "echo one; echo two >&2; echo three; exit 7"});
    EXPECT_EQ(result.status, 7);
    EXPECT_EQ(result.output, "one\ntwo\nthree\n");
}

TEST(Process, ReportsASignalAs128PlusItsNumber) {
    const Context ctx;
    EXPECT_EQ(run_process(ctx, {"sh", "-c", "kill -TERM $$"}).status, 128 + SIGTERM);
}

TEST(Process, FeedsStandardInput) {
    const Context ctx;
    const std::string input(3U << 20U, 'x');
    EXPECT_EQ(run_process(ctx, {"wc", "-c"}, {}, input).output, "3145728\n");
    EXPECT_EQ(run_process(ctx, {"wc", "-c"}).output, "0\n");
    EXPECT_EQ(run_process(ctx, {"true"}, {}, input).status, 0) << "input that nobody reads";
}

TEST(Process, GivesExactlyTheEnvironment) {
    const Context ctx;
    EXPECT_EQ(run_process(ctx, {"/usr/bin/env"}, {"A=1", "B=x y"}).output, "A=1\nB=x y\n");
    EXPECT_EQ(run_process(ctx, {"env"}).output,
              "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
              "LC_ALL=C\nTZ=UTC\n");
}

TEST(Process, RunsInTheDirectoryWithAFixedUmask) {
    const Context ctx;
    const mode_t before = ::umask(077);
    const ProcessResult result = run_process(ctx, {"sh", "-c", "pwd; umask"}, {}, {}, "/usr");
    ::umask(before);
    EXPECT_EQ(result.output, "/usr\n0022\n");
}

TEST(Process, KeepsTheLastMebibyteOfOutput) {
    const Context ctx;
    const ProcessResult result =
        run_process(ctx, {"sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' a; echo end"});
    EXPECT_EQ(result.output.size(), 1U << 20U);
    EXPECT_TRUE(result.output.ends_with("aaaend\n"));
}

TEST(Process, NamesAProgramThatIsNotThere) {
    const Context ctx;
    try {
        static_cast<void>(run_process(ctx, {"no-such-program"}));
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "no-such-program: program not found");
    }
    try {
        static_cast<void>(run_process(ctx, {"/no/such"}));
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "/no/such: No such file or directory");
    }
}

TEST(Process, LeavesNoProcessOfTheGroupBehind) {
    const Context ctx;
    const auto began = std::chrono::steady_clock::now();
    const ProcessResult result = run_process(ctx, {"sh", "-c", "sleep 60 & echo $!"});
    const pid_t left = std::stoi(result.output);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
    bool gone = false;
    for (int i = 0; i < 50 && !gone; ++i) {
        // A zombie that init has not reaped yet is gone as well.
        const ProcessResult state = run_process(ctx, {"ps", "-o", "stat=", std::to_string(left)});
        gone = state.output.empty() || state.output.starts_with("Z");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(gone);
}

TEST(Process, CancellationKillsTheChild) {
    const test::TemporaryDirectory directory;
    const std::string fifo = (directory.path() / "fifo").string();
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    std::atomic<bool> cancelled{false};
    Context ctx;
    ctx.cancelled = &cancelled;
    std::string said;
    {
        const std::jthread canceller([&] {
            std::ifstream from_child(fifo);  // waits until the child opens it
            std::getline(from_child, said);
            cancelled = true;
            // Ends when no process has the other end any more.
            for (std::string line; std::getline(from_child, line);) {
                said += " and " + line;
            }
        });
        try {
            static_cast<void>(run_process(
                ctx,
                {"sh", "-c", "exec 3>\"$0\"; echo began >&3; sleep 60; echo survived >&3", fifo}));
            ADD_FAILURE() << "no exception";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::interrupted);
        }
    }
    EXPECT_EQ(said, "began");
}

TEST(Process, HandsNoDescriptorOn) {
    const Context ctx;
    const int leak = ::open("/etc/passwd", O_RDONLY);
    EXPECT_EQ(run_process(ctx, {"ls", "/proc/self/fd"}).output, "0\n1\n2\n3\n");
    ::close(leak);
}

TEST(Process, EndsAtItsTime) {
    ProcessRequest request;
    request.argv = {"sh", "-c", "echo began; sleep 60"};
    request.limits.time = std::chrono::seconds(1);
    const auto began = std::chrono::steady_clock::now();
    const ProcessResult result = run_process(Context{}, request);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
    EXPECT_EQ(result.ended, Ended::time);
    EXPECT_EQ(result.output, "began\n");
}

TEST(Process, EndsWhenItHasWrittenNothingForItsTime) {
    const test::TemporaryDirectory work;
    ProcessRequest request;
    request.argv = {"sh", "-c", "mkdir deep; echo part > deep/file; echo began; sleep 600"};
    request.cwd = work.path();
    request.limits.idle = std::chrono::seconds(1);
    request.limits.written = {work.path(), work.path() / "missing"};
    const ProcessResult result = run_process(Context{}, request);
    EXPECT_EQ(result.ended, Ended::idle);
    EXPECT_EQ(result.output, "began\n");
}

TEST(Process, AFloodOfOutputDoesNotKeepItAlive) {
    ProcessRequest request;
    request.argv = {"cat", "/dev/zero"};
    request.limits.time = std::chrono::seconds(1);
    const ProcessResult result = run_process(Context{}, request);
    EXPECT_EQ(result.ended, Ended::time);
    EXPECT_EQ(result.output.size(), 1U << 20U);
}

TEST(Process, EndsAtTheSizeOfAFile) {
    ProcessRequest request;
    const fs::path file = fs::temp_directory_path() / fmt::format("edgegpu-size-{}", ::getpid());
    request.argv = {"dd", "if=/dev/zero", "of=" + file.string(), "bs=4096", "count=1024"};
    request.limits.file_size = 1U << 20U;
    EXPECT_EQ(run_process(Context{}, request).ended, Ended::file_size);
    fs::remove(file);
}

TEST(Process, ResetsTheSignalMask) {
    const Context ctx;
    sigset_t blocked{};
    sigset_t before{};
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    const ProcessResult result = run_process(ctx, {"grep", "SigBlk", "/proc/self/status"});
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(result.output, "SigBlk:\t0000000000000000\n");
}

TEST(Process, KeepsTheSignalMaskOfTheCaller) {
    sigset_t before{};
    sigset_t after{};
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    EXPECT_EQ(run_process(Context{}, {"true"}).status, 0);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1}) {
        EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
    }
}

TEST(Process, CopiesNoMemoryOfThisProcess) {
    constexpr std::size_t size = 64UL << 20U;
    constexpr std::size_t page = 4096;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(::madvise(memory, size, MADV_NOHUGEPAGE), 0);
    auto* const bytes = static_cast<volatile char*>(memory);
    const auto faults_of_writing = [&] {
        struct rusage usage {};
        ::getrusage(RUSAGE_THREAD, &usage);
        const long before = usage.ru_minflt;
        for (std::size_t at = 0; at < size; at += page) {
            bytes[at] = 1;
        }
        ::getrusage(RUSAGE_THREAD, &usage);
        return usage.ru_minflt - before;
    };
    ASSERT_GE(faults_of_writing(), static_cast<long>(size / page));
    EXPECT_EQ(run_process(Context{}, {"true"}).status, 0);
    // After fork(2) each page that is written to has a fault again.
    EXPECT_LT(faults_of_writing(), static_cast<long>(size / page / 4));
    ::munmap(memory, size);
}

TEST(Process, StartsProgramsInManyThreads) {
    std::atomic<int> right{0};
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&right, thread] {
                for (int i = 0; i < 25; ++i) {
                    const std::string word = fmt::format("{} {}", thread, i);
                    const ProcessResult result = run_process(Context{}, {"echo", word});
                    right += result.status == 0 && result.output == word + "\n" ? 1 : 0;
                }
            });
        }
    }
    EXPECT_EQ(right, 100);
}

TEST(Process, AChangeOfIdsInTheChildDoesNotAffectThisProcess) {
    const uid_t own = ::geteuid();
    const int before = ::prctl(PR_GET_DUMPABLE);
    ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1), 0);
    ProcessRequest request;
    request.argv = {"id", "-u"};
    request.as_root_of_namespace = true;
    const ProcessResult result = run_process(Context{}, request);
    const int after = ::prctl(PR_GET_DUMPABLE);
    ::prctl(PR_SET_DUMPABLE, before);
    EXPECT_EQ(result.output, "0\n");
    // Cleared by the kernel for memory whose process changed its ids: /proc/self would be root's.
    EXPECT_EQ(after, 1);
    EXPECT_EQ(::geteuid(), own);
}

}  // namespace
}  // namespace edgegpu
