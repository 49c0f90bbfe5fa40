#include "gpu_health/program/supervise.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <stdexcept>

namespace edgegpu::gpu_health {
namespace {

constexpr int fault = 5;
constexpr std::chrono::seconds supervise_patience{60};

TEST(GpuHealthSupervise, GivesTheStatusOfTheWork) {
    EXPECT_EQ(supervise([] { return 0; }, supervise_patience, fault), 0);
    EXPECT_EQ(supervise([] { return 1; }, supervise_patience, fault), 1);
}

TEST(GpuHealthSupervise, ACrashIsAFault) {
    EXPECT_EQ(supervise(
                  []() -> int {
                      ::raise(SIGKILL);
                      return 1;
                  },
                  supervise_patience, fault),
              fault);
    EXPECT_EQ(supervise([]() -> int { throw std::runtime_error("x"); }, supervise_patience, fault),
              fault);
    EXPECT_EQ(supervise([]() -> int { throw std::bad_alloc(); }, supervise_patience, fault), fault);
    EXPECT_EQ(supervise([]() -> int { throw 1; }, supervise_patience, fault), fault);
}

TEST(GpuHealthSupervise, WorkThatNeverEndsIsAFault) {
    EXPECT_EQ(supervise(
                  []() -> int {
                      for (;;) {
                          ::pause();
                      }
                  },
                  std::chrono::seconds(1), fault),
              fault);
}

TEST(GpuHealthSupervise, SigtermEndsIt) {
    const pid_t self = ::getpid();
    EXPECT_EQ(supervise(
                  [self]() -> int {
                      ::kill(self, SIGTERM);
                      for (;;) {
                          ::pause();
                      }
                  },
                  supervise_patience, fault),
              fault);
}

TEST(GpuHealthSupervise, AnIgnoredSigchldDoesNotLoseTheStatus) {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(supervise([] { return 1; }, supervise_patience, fault), 1);
    ::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace edgegpu::gpu_health
