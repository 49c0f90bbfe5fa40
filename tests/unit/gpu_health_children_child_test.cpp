#include "gpu_health/children/child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

using namespace std::chrono_literals;

/// Long enough for every child that ends, short enough to notice one that does not.
constexpr auto long_enough = 60s;

ChildResult shell(const std::string& script, std::chrono::milliseconds deadline = long_enough) {
    return run_program({"/bin/sh", "-c", script}, deadline);
}

bool is_alive(const std::string& number) {
    std::ifstream in("/proc/" + number + "/stat");
    std::string text;
    std::getline(in, text);
    return !text.empty() && text.find(") Z ") == std::string::npos;
}

/// A killed process is there until its parent or init has seen it.
bool ends(const std::string& number) {
    for (int round = 0; round < 2000; ++round) {
        if (!is_alive(number)) {
            return true;
        }
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

TEST(GpuHealthChild, GivesStatusAndBothStreams) {
    const ChildResult result = shell("echo out; echo err >&2; exit 7");
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 7);
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.errors, "err\n");
    EXPECT_GT(result.milliseconds, 0);
}

TEST(GpuHealthChild, FindsProgramsInPath) {
    const ChildResult result = run_program({"sh", "-c", "echo found"}, long_enough);
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.output, "found\n");
}

TEST(GpuHealthChild, TellsWhatIsNoProgramFromOneThatFails) {
    EXPECT_EQ(run_program({"/nowhere/gpu-probe"}, long_enough).end, ChildEnd::missing);
    EXPECT_EQ(run_program({"no-such-program-anywhere"}, long_enough).end, ChildEnd::missing);
    EXPECT_EQ(run_program({"/etc"}, long_enough).end, ChildEnd::missing);
    EXPECT_EQ(run_program({"/etc/hostname/x"}, long_enough).end, ChildEnd::missing);
    EXPECT_EQ(run_program({}, long_enough).end, ChildEnd::missing);
    const ChildResult result = run_program({"/nowhere/gpu-probe"}, long_enough);
    EXPECT_EQ(result.errors, "/nowhere/gpu-probe: No such file or directory");
    EXPECT_EQ(shell("exit 127").end, ChildEnd::ended);
}

TEST(GpuHealthChild, AnEmptyFileIsNoProgram) {
    const std::string path = testing::TempDir() + "gpu_health_empty_program";
    std::ofstream(path).close();
    ::chmod(path.c_str(), 0755);
    const ChildResult result = run_program({path}, long_enough);
    EXPECT_EQ(result.end, ChildEnd::missing) << result.status;
    EXPECT_EQ(result.errors, path + ": Exec format error");
    ::unlink(path.c_str());
}

TEST(GpuHealthChild, ACrashHasItsSignal) {
    const ChildResult result = shell("echo before; kill -SEGV $$");
    EXPECT_EQ(result.end, ChildEnd::crashed);
    EXPECT_EQ(result.status, SIGSEGV);
    EXPECT_EQ(result.output, "before\n");
}

TEST(GpuHealthChild, OneThatHangsIsKilledAndWhatItSaidIsKept) {
    const ChildResult result =
        shell("trap '' TERM INT HUP; echo $$; while :; do sleep 1000; done", 3s);
    EXPECT_EQ(result.end, ChildEnd::hung);
    ASSERT_FALSE(result.output.empty());
    EXPECT_TRUE(ends(result.output.substr(0, result.output.size() - 1)));
}

TEST(GpuHealthChild, AStoppedOneIsKilled) {
    const ChildResult result = shell("echo $$; kill -STOP $$; echo never", 3s);
    EXPECT_EQ(result.end, ChildEnd::hung);
    EXPECT_TRUE(ends(result.output.substr(0, result.output.size() - 1)));
    EXPECT_EQ(result.output.find("never"), std::string::npos);
}

TEST(GpuHealthChild, ADeadlineOfNothingIsOver) {
    EXPECT_EQ(shell("sleep 1000", 0ms).end, ChildEnd::hung);
    EXPECT_EQ(shell("sleep 1000", -5ms).end, ChildEnd::hung);
}

TEST(GpuHealthChild, DoesNotWaitForGrandchildrenThatKeepItsOutput) {
    const ChildResult result = shell("sleep 1000 & echo $!");
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(ends(result.output.substr(0, result.output.size() - 1)));
}

TEST(GpuHealthChild, DoesNotWaitForGrandchildrenInAnotherSession) {
    const ChildResult result = shell("setsid sleep 1000 & echo $!");
    EXPECT_EQ(result.end, ChildEnd::ended);
    ::kill(std::stoi(result.output), SIGKILL);
}

TEST(GpuHealthChild, AGrandchildThatGoesOnWritingDoesNotHoldItUp) {
    const ChildResult result = shell("setsid sh -c 'echo $$; exec yes' & sleep 0.3");
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_LE(result.output.size(), 1U << 20U);
    ::kill(std::stoi(result.output), SIGKILL);
}

TEST(GpuHealthChild, KeepsAMebibyteOfEachStreamAndReadsTheRest) {
    const ChildResult result = shell("head -c 10000000 /dev/zero; head -c 3000000 /dev/zero >&2");
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output.size(), 1U << 20U);
    EXPECT_EQ(result.errors.size(), 1U << 20U);
}

TEST(GpuHealthChild, EndlessOutputEndsWithTheDeadline) {
    const ChildResult result = shell("exec yes", 300ms);
    EXPECT_EQ(result.end, ChildEnd::hung);
    EXPECT_EQ(result.output.size(), 1U << 20U);
}

TEST(GpuHealthChild, OneThatClosesItsStreamsStillHasAStatus) {
    const ChildResult result = shell("exec >&- 2>&-; sleep 0.2; exit 3");
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 3);
}

TEST(GpuHealthChild, GetsNoInputAndNoDescriptors) {
    const ChildResult result = shell("cat; ls /proc/$$/fd");
    EXPECT_EQ(result.end, ChildEnd::ended);
    // The shell's own script is no descriptor with -c; tests may run with others than these open.
    EXPECT_EQ(result.output.substr(0, 6), "0\n1\n2\n");
}

TEST(GpuHealthChild, SignalsThatTheParentIgnoresOrBlocksDoNotReachIt) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction children {};
    struct sigaction pipes {};
    ::sigaction(SIGCHLD, &ignore, &children);
    ::sigaction(SIGPIPE, &ignore, &pipes);
    sigset_t blocked;
    sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const ChildResult status = shell("exit 5");
    const ChildResult pipe = shell("kill -PIPE $$");
    const ChildResult term = shell("kill -TERM $$");
    struct sigaction after {};
    ::sigaction(SIGCHLD, &children, &after);
    ::sigaction(SIGPIPE, &pipes, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(status.end, ChildEnd::ended);
    EXPECT_EQ(status.status, 5);
    EXPECT_EQ(pipe.status, SIGPIPE);
    EXPECT_EQ(term.status, SIGTERM);
    EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(GpuHealthChild, IsNotDisturbedByInterruptions) {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    struct sigaction before {};
    ::sigaction(SIGALRM, &nothing, &before);
    const itimerval often{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    const ChildResult result = shell("sleep 0.3; head -c 300000 /dev/zero; exit 4");
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before, nullptr);
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 4);
    EXPECT_EQ(result.output.size(), 300000U);
}

TEST(GpuHealthChild, WorksWithoutStandardDescriptors) {
    // In a process of its own, as this one needs its own.
    const pid_t process = ::fork();
    if (process == 0) {
        for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::close(number);
        }
        const ChildResult result = shell("cat; echo out; echo err >&2; exit 9");
        ::_exit(result.status == 9 && result.output == "out\n" && result.errors == "err\n" ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
}

TEST(GpuHealthChild, LeavesNoDescriptorsAndNoZombies) {
    const auto next = [] {
        const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(file);
        return file;
    };
    const int before = next();
    for (int round = 0; round < 20; ++round) {
        static_cast<void>(shell("exit 0"));
        static_cast<void>(run_program({"/nowhere"}, long_enough));
        static_cast<void>(shell("sleep 1000", 1ms));
    }
    EXPECT_EQ(next(), before);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(GpuHealthChildFunction, GivesWhatItReturned) {
    const ChildResult result = run_function([] { return std::string(300000, 'x'); }, long_enough);
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output, std::string(300000, 'x'));
}

TEST(GpuHealthChildFunction, AnExceptionIsStatusOneWithItsText) {
    const ChildResult result = run_function(
        []() -> std::string { throw std::runtime_error("sysfs is not mounted"); }, long_enough);
    EXPECT_EQ(result.end, ChildEnd::ended);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.errors, "sysfs is not mounted");
    EXPECT_EQ(run_function([]() -> std::string { throw 7; }, long_enough).status, 1);
}

TEST(GpuHealthChildFunction, OneThatDoesNotReturnHangs) {
    const ChildResult result = run_function(
        []() -> std::string {
            for (;;) {
                ::pause();
            }
        },
        200ms);
    EXPECT_EQ(result.end, ChildEnd::hung);
}

TEST(GpuHealthChildFunction, ACrashIsTheChilds) {
    const ChildResult result = run_function(
        []() -> std::string {
            std::signal(SIGABRT, SIG_DFL);
            std::abort();
        },
        long_enough);
    EXPECT_EQ(result.end, ChildEnd::crashed);
    EXPECT_EQ(result.status, SIGABRT);
}

}  // namespace
}  // namespace edgegpu::gpu_health
