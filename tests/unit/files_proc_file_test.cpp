#include "support/files/proc_file.hpp"

#include <gtest/gtest.h>
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

}  // namespace
}  // namespace edgegpu
