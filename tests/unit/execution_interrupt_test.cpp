#include "execution/interrupt.hpp"

#include <csignal>

#include <gtest/gtest.h>
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

}  // namespace
}  // namespace edgegpu
