#include "support/files/proc_file.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace edgegpu {
namespace {

// Their size is 0, and so a reader that asks for it reads nothing.
TEST(ProcFile, IsReadToItsEnd) {
    const std::string stat = read_proc_file("/proc/self/stat").value_or("");
    EXPECT_TRUE(stat.starts_with(std::to_string(::getpid()) + " (")) << stat;
    EXPECT_EQ(stat.back(), '\n');
    EXPECT_FALSE(read_proc_file("/proc/self/nothing").has_value());
    EXPECT_FALSE(read_proc_file("/proc/self").has_value());
}

TEST(ProcFile, AProcessRunsUntilItHasBeenWaitedFor) {
    EXPECT_TRUE(is_running_process(std::to_string(::getpid())));
    EXPECT_TRUE(is_running_process(std::to_string(::getpid()) + "\n"));
    EXPECT_FALSE(is_running_process(""));
    EXPECT_FALSE(is_running_process("-1"));
    EXPECT_FALSE(is_running_process("x1"));
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(0);
    }
    ASSERT_GT(child, 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(is_running_process(std::to_string(child)));
}

}  // namespace
}  // namespace edgegpu
