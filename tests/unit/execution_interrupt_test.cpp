#include "execution/interrupt.hpp"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace edgegpu {
namespace {

TEST(Interrupt, ChildrenHaveAStatusWhateverIsInherited) {
    // The handlers are those of a process.
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGCHLD, SIG_IGN);
        install_interrupt_handlers();
        constexpr int status_of_grandchild = 7;
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
            ::_exit(status_of_grandchild);
        }
        int status = 0;
        const bool known = ::waitpid(grandchild, &status, 0) == grandchild && WIFEXITED(status) &&
                           WEXITSTATUS(status) == status_of_grandchild;
        ::_exit(known ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(Interrupt, AFileAboveALimitIsAnError) {
    const pid_t child = ::fork();
    if (child == 0) {
        install_interrupt_handlers();
        const struct rlimit limit { 4, 4 };
        const int file = ::memfd_create("limited", MFD_CLOEXEC);
        const bool refused = ::setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                             ::write(file, "four", 4) == 4 && ::write(file, "more", 4) < 0 &&
                             errno == EFBIG;
        ::_exit(refused ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace edgegpu
