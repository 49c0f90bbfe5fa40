#include "support/files/cpio_archive.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace edgegpu {
namespace {

TEST(CpioArchive, IsOfTheFormatThatTheKernelReads) {
    const std::string made = cpio_archive("a test", {{"a", S_IFREG | 0600, "one"}}, 256);
    // magic, inode, mode, uid, gid, links, time, size, 2 × 2 device numbers, length of the name
    EXPECT_EQ(made.substr(0, 6 + 13 * 8),
              "070701000000010000818000000000000000000000000100000100"
              "00000003000000000000000000000000000000000000000200000000");
    EXPECT_EQ(made.substr(6 + 13 * 8, 8), std::string("a\0one\0", 6) + "07");
    EXPECT_EQ(made.substr(made.size() - 14), std::string("TRAILER!!!\0\0\0\0", 14));
}

TEST(CpioArchive, IsTheSameEachTimeIfCompressed) {
    const std::string one =
        cpio_archive("a test", {{"a", S_IFREG | 0644, "one"}}, 1, CpioFilter::gzip);
    EXPECT_EQ(one.substr(0, 8), std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
    EXPECT_EQ(one, cpio_archive("a test", {{"a", S_IFREG | 0644, "one"}}, 1, CpioFilter::gzip));
}

}  // namespace
}  // namespace edgegpu
